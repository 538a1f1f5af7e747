package index

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// TestSecondProcess: Badger's lock keeps a second process out, also one that
// only reads.
func TestSecondProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	opened(t, dir)
	options := badger.DefaultOptions(dir).WithLogger(nil)
	_, write := badger.Open(options)
	_, read := badger.Open(options.WithReadOnly(true))
	hazards.Shown(t, hazards.H27, write != nil && read != nil, "Badger's directory lock keeps out a second process, even one that only reads")
	_, _, err := Open(dir)
	if !errors.Is(err, ErrInUse) {
		t.Errorf("a second process: %v", err)
	}
	hazards.Held(t, hazards.H27, "an index that another process has is said to be in use, and is not waited for long")
}

// TestFullDiskUnderBadger: the process dies of SIGBUS where an error belongs.
func TestFullDiskUnderBadger(t *testing.T) {
	disk := t.TempDir()
	err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=24m")
	hazards.Needs(t, hazards.H36, err == nil, "the right to mount a small file system")
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	dir := filepath.Join(disk, "index")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playVariable+"="+dir, "INDEX_TEST_FILL="+disk)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	faulted := errors.As(err, &exit) && (strings.Contains(string(out), "SIGBUS") || exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGBUS)
	if !faulted {
		t.Logf("%v: %.2000s", err, out)
	}
	hazards.Shown(t, hazards.H36, faulted, "Badger on a full disk does not return an error: its mapped file faults, and the process dies of SIGBUS")
	must(t, os.Remove(filepath.Join(disk, "filler")))
	x, rebuilt, err := Open(dir)
	if err != nil {
		t.Fatalf("after that: %v (rebuilt %v)", err, rebuilt)
	}
	defer x.Close()
	x.Put("key", []byte(`1`))
	get(t, x, "key", "1")
	hazards.Held(t, hazards.H36, "what a full disk has left of the index is opened, or made anew, when there is room")
}
