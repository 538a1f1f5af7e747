package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// TestFilesThatNeverEnd: a FIFO, or a device that gives bytes for ever, where
// Umbra reads rules and settings hangs nothing and fills no memory.
func TestFilesThatNeverEnd(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		".umbra.yml", ".gitignore", ".umbraignore", ".gitattributes", "sub/.gitignore", "sub/.git", "sub/.gitattributes",
		".git/HEAD", ".git/index", ".git/packed-refs", ".git/info/exclude", ".git/info/attributes", ".git/commondir",
		".git/refs/heads/main", ".git/objects/info/alternates", ".git/config",
	} {
		for kind, place := range map[string]func(path string) error{
			"FIFO":   func(path string) error { return syscall.Mkfifo(path, 0o644) },
			"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				neverEnds(t, name, place)
			})
		}
	}
}

func neverEnds(t *testing.T, name string, place func(path string) error) {
	b := newBench(t)
	if name == ".git/config" {
		b.local.GitPatience = time.Second // git itself waits for it
	}
	b.git("init", "-q", "-b", "main")
	b.write("a.txt", "one\n")
	b.write("sub/b.txt", "one\n")
	b.git("add", ".")
	b.git("commit", "-qm", "one")
	b.git("pack-refs", "--all")
	m := b.mission("work")
	b.remove(name)
	if err := os.MkdirAll(filepath.Dir(filepath.Join(b.dir, name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := place(filepath.Join(b.dir, name)); err != nil {
		t.Fatal(err)
	}
	b.write("a.txt", "two\n")
	type made struct {
		missions.Entry
		err error
	}
	done := make(chan made, 1)
	go func() {
		e, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Mission: m.ID})
		done <- made{e, err}
	}()
	select {
	case got := <-done:
		if got.err != nil && !strings.Contains(got.err.Error(), filepath.Base(name)) {
			t.Errorf("the error does not say what is wrong: %v", got.err)
		}
		if got.err == nil && b.cat(got.ID, "a.txt") != "two\n" {
			t.Error("the snapshot is not what is on disk")
		}
	case <-time.After(patience.Of(time.Minute)):
		t.Fatal("the snapshot hangs")
	}
}

// TestTranscriptThatNeverEnds: a hook names a FIFO for its conversation.
func TestTranscriptThatNeverEnds(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	if err := os.MkdirAll(filepath.Dir(c.transcript), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(c.transcript, 0o600); err != nil {
		t.Fatal(err)
	}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	done := make(chan missions.HookResult, 1)
	go func() { done <- c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p"}) }()
	select {
	case got := <-done:
		if got.Snapshot == "" {
			t.Error("no snapshot")
		}
	case <-time.After(patience.Of(time.Minute)):
		t.Fatal("the hook hangs")
	}
}
