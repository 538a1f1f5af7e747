// Package e2e runs the real agents, from the npm registry, against the stand-in
// model server. Its tests assert from the server's log what the model was sent;
// they reach Umbra, where they do, by its command line only.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/lab"
)

// binaryVar tells the process in the namespace where its parent built umbra.
const binaryVar = "UMBRA_E2E_BINARY"

// heldPath is umbra with its failpoints, at which kills_test.go holds it.
func heldPath() string { return filepath.Join(filepath.Dir(umbraPath()), "held", "umbra") }

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if testing.Short() || os.Getenv(binaryVar) != "" {
		return clients.Main(m)
	}
	dir, err := os.MkdirTemp("", "umbra-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "umbra")
	if err := lab.Build(context.Background(), "../..", ".", binary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := os.Setenv(binaryVar, binary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := lab.Build(context.Background(), "../..", ".", heldPath(), "failpoints"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return clients.Main(m)
}
