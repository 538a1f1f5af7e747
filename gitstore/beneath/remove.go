//go:build unix

package beneath

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// MountError says that something is mounted in a tree that was to be removed.
type MountError struct{ At string }

func (e *MountError) Error() string { return "something is mounted at " + e.At }

// RemoveTree removes what is at path for good, a directory with all that is in it,
// read-only ones too. Nothing at path is no error. It follows no link and enters no
// mount, neither of another file system nor of a directory of the same one: a
// *MountError, and nothing was removed unless it was mounted meanwhile.
func RemoveTree(path string) error { return RemoveTreeWith(path, Options{}) }

// RemoveTreeWith is RemoveTree with some abilities turned off.
func RemoveTreeWith(path string, options Options) error {
	if err := OpenTree(path, options); err != nil {
		return err
	}
	return removal{options.StepByStep, true}.start(path)
}

// OpenTree makes every directory at and below path writable for its owner, so that
// RemoveTree can remove it. A *MountError as RemoveTree.
func OpenTree(path string, options Options) error {
	if points := MountsIn(path); len(points) > 0 {
		return &MountError{points[0]}
	}
	return removal{stepByStep: options.StepByStep}.start(path)
}

// removal walks a tree to remove it or, before that, to look for mounts.
type removal struct{ stepByStep, remove bool }

func (r removal) start(path string) error {
	parent, err := os.OpenFile(filepath.Dir(path), handleFlags|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer parent.Close()
	return r.entry(int(parent.Fd()), filepath.Base(path), path)
}

// entry handles one name of the directory fd; at is its path, for messages.
func (r removal) entry(fd int, name, at string) error {
	var st unix.Stat_t
	err := ignoringEINTR(func() error { return unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return pathError("lstat", at, err)
	}
	flags := 0
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		if err := r.directory(fd, name, at); err != nil {
			return err
		}
		flags = unix.AT_REMOVEDIR
	}
	if !r.remove {
		return nil
	}
	err = ignoringEINTR(func() error { return unix.Unlinkat(fd, name, flags) })
	if err == unix.ENOENT {
		return nil
	}
	return pathError("remove", at, err)
}

// directory handles what is in a directory.
func (r removal) directory(fd int, name, at string) error {
	handle, err := openUnmounted(fd, name, r.stepByStep)
	if err == unix.EXDEV {
		return &MountError{at}
	}
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return pathError("open", at, err)
	}
	dir, err := openForOwner(handle)
	_ = unix.Close(handle)
	if err != nil {
		return pathError("open", at, err)
	}
	defer unix.Close(dir)
	var l Listing
	if err := listDirectory(dir, &l, math.MaxInt); err != nil {
		return pathError("read", at, err)
	}
	for i := range l.Len() {
		if !r.remove && l.Kind(i) != Directory && l.Kind(i) != Unknown {
			continue
		}
		name := string(l.Name(i))
		if err := r.entry(dir, name, filepath.Join(at, name)); err != nil {
			return err
		}
	}
	return nil
}

// openForOwner opens the directory of a handle for reading, after giving its owner the
// right to read, change and enter it.
func openForOwner(handle int) (int, error) {
	var st unix.Stat_t
	if err := unix.Fstat(handle, &st); err != nil {
		return -1, err
	}
	const whole = uint32(fs.FileMode(0o700))
	if perm := uint32(st.Mode) & 0o7777; perm&whole != whole {
		if err := chmodHandle(handle, perm|whole); err != nil {
			return -1, err
		}
	}
	return openDirectory(handle, ".", listFlags)
}
