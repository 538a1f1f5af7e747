package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// TestSoak: some hundred snapshots of random edits, each held against git, while
// everything goes wrong that a soak knows of.
func TestSoak(t *testing.T) {
	// On a disk: a tmpfs does not stamp what is written through a mapping. A socket's path
	// must be short.
	dir, err := os.MkdirTemp("/var/tmp", "umbra-soak-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	snapshots := 126
	if testing.Short() {
		snapshots = 60
	}
	soak := filepath.Join(dir, "soak") // without cgo, which the race detector needs: see lab.HeedModes
	for out, program := range map[string]string{filepath.Join(dir, "umbra"): clockwork, soak: "./scripts/endure"} {
		if err := lab.Build(t.Context(), "../..", program, out); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	err = apart(t.Context(), []string{
		soak, "--files", "400", "--snapshots", fmt.Sprint(snapshots), "--rehash", "25", "--wrong", "7", "--rest", "0", "--pause", "100ms",
		"--dir", dir, "--stage", "here",
	}, &out)
	t.Logf("%s", &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{fmt.Sprintf("%d snapshots of", snapshots), "umbra doctor", "killed (", "stopped (", "stopped for long (", "stalled (", "flooded (", "set back (", "Loose objects"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the summary does not say %q", want)
		}
	}
	if strings.Contains(out.String(), "%!") {
		t.Error("the summary is badly formatted")
	}
	if !strings.Contains(out.String(), "watches exhausted (") {
		t.Skip("watches were not exhausted: no user namespace to lower the limit in")
	}
}

func smallWorld(t *testing.T, seed uint64) (*world, *oracle) {
	t.Helper()
	dir := t.TempDir()
	w, err := newWorld(filepath.Join(dir, "work"), &lab.Tree{Files: 250, Seed: seed}, seed)
	if err != nil {
		t.Fatal(err)
	}
	w.closes = true
	o, err := newOracle(t.Context(), w, filepath.Join(dir, "oracle.git"))
	if err != nil {
		t.Fatal(err)
	}
	return w, o
}

// TestWorld: after any edits, what was written is what is on disk.
func TestWorld(t *testing.T) {
	w, o := smallWorld(t, 5)
	seen := map[string]bool{}
	for round := range 20 {
		for range 30 {
			name, err := w.edit()
			if err != nil {
				t.Fatal(err)
			}
			seen[name] = true
		}
		want, err := o.expected(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := o.rehashed(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("after round %d the disk has the tree %s, and what was written %s", round, got, want)
		}
	}
	for _, e := range edits() {
		if !seen[e.name] {
			t.Errorf("no %q among 600 edits", e.name)
		}
	}
}

// TestOracleSees: whatever differs from what was written is seen.
func TestOracleSees(t *testing.T) {
	w, o := smallWorld(t, 6)
	want, err := o.expected(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	victim := w.path(w.names[7])
	content, err := os.ReadFile(victim)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func() error{
		"content": func() error { return os.WriteFile(victim, append([]byte("x"), content[1:]...), 0o644) },
		"mode":    func() error { return os.Chmod(victim, 0o755) },
		"removed": func() error { return os.Remove(victim) },
		"added":   func() error { return os.WriteFile(victim+".more", nil, 0o644) },
	} {
		if err := change(); err != nil {
			t.Fatal(name, err)
		}
		got, err := o.rehashed(t.Context())
		if err != nil || got == want {
			t.Errorf("%s: the disk still has the tree %s, %v", name, got, err)
		}
		_ = os.Remove(victim + ".more")
		_ = os.Remove(victim)
		if err := os.WriteFile(victim, content, 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := o.rehashed(t.Context()); err != nil || got != want {
			t.Fatalf("put back after %s: the tree is %s, want %s, %v", name, got, want, err)
		}
	}
}

func TestInOrder(t *testing.T) {
	if err := inOrder([]string{"a", "b", "a"}, []string{"x", "a", "a", "b", "y", "a"}); err != nil {
		t.Error(err)
	}
	for _, history := range [][]string{{"a", "b"}, {"b", "a", "a"}, nil} {
		if err := inOrder([]string{"a", "b", "a"}, history); err == nil {
			t.Errorf("%v holds a, b, a", history)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, args := range [][]string{{"more"}, {"--snapshots", "0"}, {"--files", "3"}, {"--rehash", "0"}, {"--kill", "-1"}, {"--wrong", "-1"}, {"--nonsense"}} {
		if o, err := parse(args); err == nil {
			t.Errorf("parse(%q) = %+v", args, o)
		}
	}
}
