package durable

import (
	"os"

	"golang.org/x/sys/unix"
)

// datasync is F_FULLFSYNC, which os.File.Sync uses on Darwin.
func datasync(f *os.File) error { return f.Sync() }

// syncFileSystem reports false: Darwin has no call that does this and tells of
// errors.
func syncFileSystem(string) (bool, error) { return false, nil }

// BootID names this run of the kernel; "" if it cannot be had.
func BootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
