package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// TestSoak: some hundred snapshots of random edits, each held against git.
func TestSoak(t *testing.T) {
	dir, err := os.MkdirTemp("", "umbra-soak-") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	o, err := parse([]string{"--files", "400", "--snapshots", "200", "--rehash", "25", "--kill", "20", "--dir", dir})
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		o.snapshots = 60
	}
	o.binary, o.pause = filepath.Join(dir, "umbra"), 100*time.Millisecond
	if err := lab.Build(t.Context(), "../..", o.binary); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s, err := endure(t.Context(), o, &out)
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if s.taken != o.snapshots || s.rehashes != o.snapshots/o.rehash+1 || s.kills != o.snapshots/o.kill || len(s.memory) != points || len(s.trees) < o.snapshots*9/10 {
		t.Errorf("%d snapshots, %d rehashes, %d points of memory, %d trees", s.taken, s.rehashes, len(s.memory), len(s.trees))
	}
	text := s.summary(time.Now(), time.Second, "here")
	if !strings.Contains(text, "umbra doctor") || strings.Contains(text, "%!") {
		t.Errorf("the summary is\n%s", text)
	}
}

func smallWorld(t *testing.T, seed uint64) (*world, *oracle) {
	t.Helper()
	dir := t.TempDir()
	w, err := newWorld(filepath.Join(dir, "work"), &lab.Tree{Files: 250, Seed: seed}, seed)
	if err != nil {
		t.Fatal(err)
	}
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
	for _, args := range [][]string{{"more"}, {"--snapshots", "0"}, {"--files", "3"}, {"--rehash", "0"}, {"--kill", "-1"}, {"--nonsense"}} {
		if o, err := parse(args); err == nil {
			t.Errorf("parse(%q) = %+v", args, o)
		}
	}
}
