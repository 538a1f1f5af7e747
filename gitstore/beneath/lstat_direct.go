//go:build linux && (amd64 || arm64 || riscv64)

package beneath

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// lstatTerminated is Lstat for a name that ends in a NUL. It passes the name as
// it stands, where unix.Fstatat would copy it: a walk does little else.
func lstatTerminated(fd int, name []byte) (Stat, error) {
	var st unix.Stat_t
	for {
		_, _, errno := unix.Syscall6(unix.SYS_NEWFSTATAT, uintptr(fd), uintptr(unsafe.Pointer(&name[0])),
			uintptr(unsafe.Pointer(&st)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
		switch errno {
		case 0:
			return statOf(&st), nil
		case unix.EINTR:
		default:
			return Stat{}, errno
		}
	}
}
