package beneath

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	canResolve  = true
	handleFlags = unix.O_PATH // needs no permission to read the directory
	listFlags   = unix.O_RDONLY
)

func openResolved(fd int, path string, flags int) (int, error) {
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_DIRECTORY | unix.O_CLOEXEC),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	}
	for {
		opened, err := unix.Openat2(fd, path, &how)
		switch err {
		case nil:
			return opened, nil
		case unix.EINTR, unix.EAGAIN:
			// EAGAIN: a rename elsewhere ran while the path was resolved.
		default:
			return -1, err
		}
	}
}

// openUnmounted opens a handle on the directory name of the directory fd, or is EXDEV if
// something is mounted there. Without openat2 the two mounts' numbers are compared.
func openUnmounted(fd int, name string, stepByStep bool) (int, error) {
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV,
	}
	for !stepByStep {
		handle, err := unix.Openat2(fd, name, &how)
		switch err {
		case unix.EINTR, unix.EAGAIN:
		case unix.ENOSYS, unix.EPERM:
			stepByStep = true
		default:
			return handle, err
		}
	}
	handle, err := openDirectory(fd, name, unix.O_PATH)
	if err != nil {
		return -1, err
	}
	outer, err := mountOf(fd)
	inner, innerErr := mountOf(handle)
	if err = errors.Join(err, innerErr); err == nil && inner != outer {
		err = unix.EXDEV
	}
	if err != nil {
		_ = unix.Close(handle)
		return -1, err
	}
	return handle, nil
}

// mountOf is the number of the mount that a descriptor is on: mnt_id of proc(5).
func mountOf(fd int) (string, error) {
	info, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(fd))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(info)) {
		if id, found := strings.CutPrefix(line, "mnt_id:"); found {
			return strings.TrimSpace(id), nil
		}
	}
	return "", unix.ENOTSUP
}

func exchangeAt(fromFd int, from string, toFd int, to string) error {
	return unsupported(unix.Renameat2(fromFd, from, toFd, to, unix.RENAME_EXCHANGE))
}

func renameNoReplaceAt(fromFd int, from string, toFd int, to string) error {
	return unsupported(unix.Renameat2(fromFd, from, toFd, to, unix.RENAME_NOREPLACE))
}

// chmodAt opens the name as a mere handle, which needs no permission on it
// and does not open devices, and changes what the handle is on.
func chmodAt(fd int, name string, perm uint32) error {
	handle, err := unix.Openat(fd, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(handle)
	var st unix.Stat_t
	if err := unix.Fstat(handle, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return ErrSymlink
	}
	return chmodHandle(handle, perm)
}

// chmodHandle changes the mode of what a handle is on.
func chmodHandle(handle int, perm uint32) error {
	err := unix.Fchmodat(handle, "", perm, unix.AT_EMPTY_PATH)
	if err == unix.EOPNOTSUPP || err == unix.ENOSYS || err == unix.EPERM || err == unix.EINVAL {
		// fchmodat2 came with Linux 6.6, and old seccomp filters answer EPERM.
		err = unix.Chmod("/proc/self/fd/"+strconv.Itoa(handle), perm)
	}
	return err
}

// listDirectory reads getdents64 records itself: the os package would call
// lstat, by path, for entries without a kind.
func listDirectory(fd int, l *Listing, most int) error {
	for l.Len() < most {
		l.data = slices.Grow(l.data, listingRoom)
		used := len(l.data)
		var n int
		err := ignoringEINTR(func() (err error) {
			n, err = unix.Getdents(fd, l.data[used:cap(l.data)])
			return err
		})
		if err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		l.data = l.data[:used+n]
		if err := l.addRecords(used); err != nil {
			return err
		}
	}
	return nil
}

// addRecords notes the names of the records that the data has from there on. A
// record that makes no sense is EIO: names must not be missing in silence.
func (l *Listing) addRecords(at int) error {
	const (
		lengthAt = int(unsafe.Offsetof(unix.Dirent{}.Reclen))
		typeAt   = int(unsafe.Offsetof(unix.Dirent{}.Type))
		nameAt   = int(unsafe.Offsetof(unix.Dirent{}.Name))
	)
	for at < len(l.data) {
		record := l.data[at:]
		if len(record) <= nameAt {
			return unix.EIO
		}
		length := int(binary.NativeEndian.Uint16(record[lengthAt:]))
		if length <= nameAt || length > len(record) {
			return unix.EIO
		}
		end := bytes.IndexByte(record[nameAt:length], 0)
		if end < 0 {
			return unix.EIO
		}
		l.add(at+nameAt, at+nameAt+end, kindOf(record[typeAt]))
		at += length
	}
	return nil
}

func kindOf(direntType byte) Kind {
	switch direntType {
	case unix.DT_REG:
		return File
	case unix.DT_DIR:
		return Directory
	case unix.DT_LNK:
		return Symlink
	case unix.DT_UNKNOWN:
		return Unknown
	}
	return Special
}
