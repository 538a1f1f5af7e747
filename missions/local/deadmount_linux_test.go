package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// TestDeadMountBesideARestore: nobody serves a mount in an ignored directory any more, as
// when the other machine is away. Whoever looks at it waits until it is unmounted: a
// restore does not look.
func TestDeadMountBesideARestore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(".gitignore", "data/\n")
	b.write("a.txt", "one\n")
	b.write("data/remote/here", "")
	b.write("data/then", "then\n")
	b.mission("work")
	b.write("a.txt", "two\n")
	b.write("data/then", "now\n")
	at := time.Now() // the clock of files is a coarse one
	if err := os.Chtimes(filepath.Join(b.dir, "data/then"), at, at); err != nil {
		t.Fatal(err)
	}
	letGo := mountDead(t, filepath.Join(b.dir, "data/remote"))
	b.snapshot("two")
	done := make(chan error, 1)
	var results []missions.RestoreResult
	go func() {
		for _, preview := range []bool{true, false} {
			r, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "work@start", Preview: preview})
			if results = append(results, r); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience.Of(time.Minute)):
		t.Error("the restore waits for the dead mount")
		letGo()
		<-done
	}
	const note = "ignored, so in no snapshot, and written since then: data/; ignored files stay as they are"
	for _, r := range results {
		if !slices.Contains(r.Notes, note) {
			t.Errorf("preview or restore: %+v", r)
		}
	}
	if b.read("a.txt") != "one\n" {
		t.Errorf("a.txt is %q", b.read("a.txt"))
	}
	letGo()
	b.healthy()
}

// TestDeadMountBesideAFork: a fork that leaves ignored files behind looks at none of them,
// and a snapshot never does.
func TestDeadMountBesideAFork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(".gitignore", "data/\n")
	b.write("a.txt", "one\n")
	b.write("data/here", "")
	b.mission("work")
	letGo := mountDead(t, filepath.Join(b.dir, "data"))
	b.write("a.txt", "two\n")
	done := make(chan error, 1)
	var made missions.ForkResult
	go func() {
		_, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Message: "two"})
		if err == nil {
			made, err = b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "work", Name: "beside", Ignored: "skip"})
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience.Of(time.Minute)):
		t.Error("the fork waits for the dead mount")
		letGo()
		<-done
	}
	if text, err := os.ReadFile(filepath.Join(made.Missions[0].Workspace, "a.txt")); err != nil || string(text) != "two\n" {
		t.Errorf("a.txt in the fork: %q %v", text, err)
	}
	letGo()
	b.healthy()
}

// mountDead mounts a file system that answers nobody, until letGo is called or the test
// ends. It skips the test where that is not possible.
func mountDead(t *testing.T, at string) (letGo func()) {
	t.Helper()
	server, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no FUSE here: %v", err)
	}
	closed := false
	letGo = func() {
		if !closed { // who waits gets an error then
			closed = true
			_ = unix.Close(server)
			_ = unix.Unmount(at, unix.MNT_DETACH)
		}
	}
	t.Cleanup(letGo)
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", server, os.Getuid(), os.Getgid())
	if err := unix.Mount("dead", at, "fuse", 0, options); err != nil {
		t.Skipf("the right to mount is missing: %v", err)
	}
	return letGo
}
