package journal

import (
	"testing"

	"golang.org/x/sys/unix"
)

// mountTiny mounts a file system of 256 KiB.
func mountTiny(t *testing.T, dir string) error {
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k")
	if err == unix.EPERM {
		t.Skip("mounting a tiny file system needs root")
	}
	if err == nil {
		t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	}
	return err
}
