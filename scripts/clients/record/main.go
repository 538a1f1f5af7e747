// Command record makes the fixtures of the agents' adapters anew: it talks to the
// pinned clients, whose model is the stand-in server, and writes their sessions, and
// what their hooks were told, below sessions/AGENT/testdata/VERSION/recorded. Long
// texts of a client's own are left out. The clients run in directories below
// /tmp/dev, which must not exist, so that fixtures name nobody's.
//
// It is run at the root of the repository: go run ./scripts/clients/record [AGENT[@VERSION]...]
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

// run records the clients that words name, all without a word.
func run(ctx context.Context, words []string) error {
	list, err := named(words)
	if err != nil {
		return err
	}
	for _, a := range list {
		out := filepath.Join("sessions", a.name, "testdata", a.version, "recorded")
		if err := os.MkdirAll(out, 0o755); err != nil {
			return err
		}
		if err := record(ctx, a, out); err != nil {
			return fmt.Errorf("%s %s: %w", a.name, a.version, err)
		}
		fmt.Println(out)
	}
	return nil
}
