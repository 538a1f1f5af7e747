package home

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRemovalCommand: a command that is named to remove a directory does not go through
// what is mounted there.
func TestRemovalCommand(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, NOT SHOWN: only root may mount")
	}
	dir, shared := filepath.Join(t.TempDir(), "a b"), t.TempDir()
	outer, inner := filepath.Join(dir, "outer"), filepath.Join(dir, "outer/inner")
	for _, d := range []string{outer, filepath.Join(shared, "inner")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []string{outer, inner} {
		if err := unix.Mount(shared, at, "", unix.MS_BIND, ""); err != nil {
			t.Skipf("SKIPPED, NOT SHOWN: no bind mounts here: %v", err)
		}
		t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	}
	if got, want := RemovalCommand(dir, "rm it"), "umount '"+inner+"' '"+outer+"' && rm it"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if got := RemovalCommand(t.TempDir(), "rm it"); got != "rm it" {
		t.Errorf("%s, where nothing is mounted", got)
	}
}
