package upkeep

import (
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	for _, kv := range os.Environ() {
		if key, _, _ := strings.Cut(kv, "="); strings.HasPrefix(key, "GIT_") {
			os.Unsetenv(key)
		}
	}
	if child, ok := os.LookupEnv(childEnv); ok {
		os.Exit(runChild(child))
	}
	os.Exit(m.Run())
}
