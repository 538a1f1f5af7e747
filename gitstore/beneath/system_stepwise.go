//go:build unix && !linux

package beneath

import (
	"io"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

const (
	canResolve  = false
	handleFlags = unix.O_RDONLY
	listFlags   = unix.O_RDONLY
)

func openResolved(int, string, int) (int, error) { return -1, unix.ENOSYS }

// openUnmounted opens a handle on the directory name of the directory fd, or is EXDEV if
// another file system is mounted there.
func openUnmounted(fd int, name string, _ bool) (int, error) {
	var outer, inner unix.Stat_t
	if err := unix.Fstat(fd, &outer); err != nil {
		return -1, err
	}
	if err := unix.Fstatat(fd, name, &inner, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return -1, err
	}
	if inner.Dev != outer.Dev {
		return -1, unix.EXDEV
	}
	handle, err := openDirectory(fd, name, handleFlags)
	if err == unix.EACCES {
		if err = chmodAt(fd, name, uint32(inner.Mode)&0o7777|0o700); err == nil {
			handle, err = openDirectory(fd, name, handleFlags)
		}
	}
	return handle, err
}

func chmodHandle(handle int, perm uint32) error { return unix.Fchmod(handle, perm) }

func chmodAt(fd int, name string, perm uint32) error {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return ErrSymlink
	}
	return unix.Fchmodat(fd, name, perm, unix.AT_SYMLINK_NOFOLLOW)
}

// listDirectory gives no kinds: the os package would find missing ones by
// path, which may lead elsewhere by then.
func listDirectory(fd int, l *Listing, most int) error {
	own, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(own), ".")
	defer dir.Close()
	if most == math.MaxInt {
		most = -1 // all of them
	}
	names, err := dir.Readdirnames(most)
	if err != nil && err != io.EOF {
		return err
	}
	for _, name := range names {
		at := len(l.data)
		l.data = append(append(l.data, name...), 0)
		l.add(at, at+len(name), Unknown)
	}
	return nil
}
