package commands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run puts umbra on PATH as README builds it, and not as this test is: built for the
// race detector it takes three times as long to start, which tests here do by the
// thousand, and a command's goroutines are those of packages that are tested with it.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "umbra-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := lab.Build(context.Background(), "..", ".", filepath.Join(dir, "umbra")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	remove, err := lab.Nobody()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer remove()
	return m.Run()
}
