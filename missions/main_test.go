package missions

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

// runTests runs them in an environment that says nothing: a test's user is its bench's,
// handed in by Caller.Env, so that tests can run beside each other.
func runTests(m *testing.M) int {
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "GIT_") {
			os.Unsetenv(name)
		}
	}
	nobody, err := os.MkdirTemp("", "umbra-nobody-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(nobody)
	os.Setenv("HOME", nobody)
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return m.Run()
}
