package local

import (
	"fmt"
	"os"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

// runTests has each test's user come from its bench alone.
func runTests(m *testing.M) int {
	remove, err := lab.Nobody()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer remove()
	return m.Run()
}
