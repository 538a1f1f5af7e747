package local

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestTrashLeftWhole: a workspace in which something is mounted stays in the trash, and so
// does its worktree's entry: Git works in it when it is back.
func TestTrashLeftWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.versioned()
	b.mission("work")
	fork, kept := b.trashed("work", "held")
	at := filepath.Dir(kept)
	if err := unix.Mount(b.dir, at, "", unix.MS_BIND, ""); errors.Is(err, unix.EPERM) {
		t.Skip("the right to mount is missing")
	} else if err != nil {
		t.Fatal(err)
	}
	done, err := b.trash(true)
	if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	if err != nil || done.HasItems() || len(done.Left) != 2 {
		t.Errorf("emptied: %+v %v", done, err)
	}
	b.unremove("held")
	if out, err := exec.Command("git", "-C", fork.Workspace, "status").CombinedOutput(); err != nil {
		t.Errorf("git status: %v\n%s", err, out)
	}
}
