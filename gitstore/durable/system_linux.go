package durable

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func datasync(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return err
		}
	}
}

// syncFileSystem makes everything written to dir's file system so far durable
// and reports true, where the system can do that and tell of errors.
func syncFileSystem(dir string) (bool, error) {
	f, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return true, unix.Syncfs(int(f.Fd()))
}

// BootID names this run of the kernel; "" if it cannot be had.
func BootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
