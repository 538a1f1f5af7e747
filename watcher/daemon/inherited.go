package daemon

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// DropInherited closes what a process in the background got from the process that
// started it, apart from its standard streams: kept open, a lock of the caller's is never
// free, and a pipeline never ends. Go opens everything so that a new program does not
// get it (O_CLOEXEC): all other descriptors are inherited.
func DropInherited() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // as where /proc is not mounted
	}
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}
