//go:build unix

package beneath

import (
	"os"

	"golang.org/x/sys/unix"
)

// Entry is one name of a directory and, where the file system tells, its
// kind.
type Entry struct {
	Name string
	Kind Kind
}

// Dir is an open directory below a root, for reading it and what is in it
// with single names: a walk that goes from Dir to Dir resolves no path twice
// and cannot be led astray by a directory that becomes a link meanwhile (H2).
// Its methods may run at once, except Close, and List and ReadDir with themselves.
type Dir struct {
	fd   int
	root *Root
	path string
	read bool // listed before: the next listing begins with a seek
}

func newDir(fd int, root *Root, at string, err error) (*Dir, error) {
	if err != nil {
		if at == "" {
			at = root.path
		}
		return nil, pathError("open", at, err)
	}
	return &Dir{fd: fd, root: root, path: at}, nil
}

// Close releases the handle.
func (d *Dir) Close() error { return pathError("close", d.path, unix.Close(d.fd)) }

// Fd is the directory's descriptor, which stays the Dir's.
func (d *Dir) Fd() uintptr { return uintptr(d.fd) }

// Path is the directory's path below the root, "" for the root.
func (d *Dir) Path() string { return d.path }

func (d *Dir) join(name string) string {
	if d.path == "" {
		return name
	}
	return d.path + "/" + name
}

// Stat describes the directory itself.
func (d *Dir) Stat() (Stat, error) {
	var st unix.Stat_t
	err := ignoringEINTR(func() error { return unix.Fstat(d.fd, &st) })
	if err != nil {
		return Stat{}, pathError("stat", d.path, err)
	}
	return statOf(&st), nil
}

// Lstat describes the entry name, without following it.
func (d *Dir) Lstat(name string) (Stat, error) {
	if err := checkName(name); err != nil {
		return Stat{}, pathError("lstat", d.join(name), err)
	}
	var st unix.Stat_t
	err := ignoringEINTR(func() error { return unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return Stat{}, pathError("lstat", d.join(name), err)
	}
	return statOf(&st), nil
}

// Open is Root.Open for the entry name.
func (d *Dir) Open(name string) (*os.File, Stat, error) {
	if err := checkName(name); err != nil {
		return nil, Stat{}, pathError("open", d.join(name), err)
	}
	return openRegular(d.fd, name, d.join(name))
}

// OpenDir opens the subdirectory name. The caller closes it.
func (d *Dir) OpenDir(name string) (*Dir, error) {
	at := d.join(name)
	if err := checkName(name); err != nil {
		return nil, pathError("open", at, err)
	}
	fd, err := openDirectory(d.fd, name, listFlags)
	return newDir(fd, d.root, at, err)
}

// Readlink returns the target of the symbolic link name.
func (d *Dir) Readlink(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", pathError("readlink", d.join(name), err)
	}
	return readlinkAt(d.fd, name, d.join(name))
}

// ReadDir lists the whole directory from its start, without "." and "..". A
// buffer, if given, is used as scratch space. See List for a walk.
func (d *Dir) ReadDir(buffer []byte) ([]Entry, error) {
	l := Listing{data: buffer}
	if err := d.List(&l); err != nil {
		return nil, err
	}
	entries := make([]Entry, l.Len())
	for i := range entries {
		entries[i] = Entry{Name: string(l.Name(i)), Kind: l.Kind(i)}
	}
	return entries, nil
}

func checkName(name string) error {
	if err := checkForm(name); err != nil {
		return err
	}
	for i := 0; i < len(name); i++ {
		if name[i] == '/' {
			return ErrHostilePath
		}
	}
	return nil
}

// openRegular opens without blocking on a FIFO and then proves that what was
// opened is a regular file, which a check before it could not.
func openRegular(fd int, name, at string) (*os.File, Stat, error) {
	var opened int
	err := ignoringEINTR(func() (err error) {
		const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
		opened, err = unix.Openat(fd, name, flags, 0)
		return err
	})
	if err == unix.ENXIO || err == unix.EOPNOTSUPP {
		// A socket, or a device that nothing serves.
		err = ErrNotRegular
	}
	if err != nil {
		return nil, Stat{}, pathError("open", at, err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(opened, &st); err != nil {
		_ = unix.Close(opened)
		return nil, Stat{}, pathError("stat", at, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		_ = unix.Close(opened)
		return nil, Stat{}, pathError("open", at, ErrNotRegular)
	}
	// The runtime's poller has no business with a regular file.
	if err := unix.SetNonblock(opened, false); err != nil {
		_ = unix.Close(opened)
		return nil, Stat{}, pathError("open", at, err)
	}
	return os.NewFile(uintptr(opened), at), statOf(&st), nil
}

func readlinkAt(fd int, name, at string) (string, error) {
	for size := 256; ; size *= 2 {
		buffer := make([]byte, size)
		var n int
		err := ignoringEINTR(func() (err error) {
			n, err = unix.Readlinkat(fd, name, buffer)
			return err
		})
		if err != nil {
			return "", pathError("readlink", at, err)
		}
		if n < size {
			return string(buffer[:n]), nil
		}
	}
}
