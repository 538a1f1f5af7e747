package filecopy

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// share makes target a copy of from that shares its blocks (reflink).
func share(from, target beneath.Opened) error {
	return unix.IoctlFileClone(int(target.Fd()), int(from.Fd()))
}

// neverShares tells the errors that every file of the two file systems gives.
func neverShares(err error) bool {
	return errors.Is(err, unix.EXDEV) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.ENOSYS)
}

// CanShare reports whether a file made in dir could share the blocks of the file
// at path. It leaves nothing behind.
func CanShare(path, dir string) bool {
	from, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer from.Close()
	target, err := os.OpenFile(filepath.Clean(dir), os.O_RDWR|unix.O_TMPFILE, 0o600)
	if err != nil {
		return false
	}
	defer target.Close()
	return share(from, target) == nil
}

// copyLarge copies a file that is larger than the buffer. Holes stay holes, as
// far as its file system tells of them.
func copyLarge(from, target beneath.Handle, size int64, buffer []byte) error {
	for at := int64(0); at < size; {
		data, err := unix.Seek(int(from.Fd()), at, unix.SEEK_DATA)
		if err == unix.ENXIO {
			break // nothing but a hole follows
		}
		end := size
		if err == nil {
			if hole, err := unix.Seek(int(from.Fd()), data, unix.SEEK_HOLE); err == nil {
				end = min(hole, size)
			}
		} else {
			data = at
		}
		if err := copyRange(from, target, data, end, buffer); err != nil {
			return err
		}
		at = max(end, data+1)
	}
	return target.Truncate(size)
}

// copyRange has the kernel copy, which need not bring the bytes here.
func copyRange(from, target beneath.Handle, at, end int64, buffer []byte) error {
	for at < end {
		read, write := at, at
		n, err := unix.CopyFileRange(int(from.Fd()), &read, int(target.Fd()), &write, int(min(end-at, 1<<30)), 0)
		switch {
		case err == unix.EINTR:
		case OutOfSpace(err), errors.Is(err, unix.EIO):
			return err
		case err != nil || n == 0:
			// It cannot, as between some file systems, or says that the file ends.
			return copyThrough(from, target, at, end, buffer)
		}
		at += int64(max(n, 0))
	}
	return nil
}

// SetModTime gives a file its time of modification, in nanoseconds.
func SetModTime(f beneath.Handle, mtime int64) error {
	spec := unix.NsecToTimespec(mtime)
	return unix.UtimesNanoAt(int(f.Fd()), "", []unix.Timespec{spec, spec}, unix.AT_EMPTY_PATH)
}
