package disk

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Open is os.Open.
func Open(name string) (*os.File, error) { return OpenFile(name, os.O_RDONLY, 0) }

// OpenFile is os.OpenFile, for modes of permission bits alone.
func OpenFile(name string, flags int, perm fs.FileMode) (*os.File, error) {
	fd, err := open(name, flags, perm)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// IsAt reports whether path names the open file, itself and not through a link:
// false if nothing is there by now, or something else.
func IsAt(path string, f *os.File) (bool, error) {
	var open, there unix.Stat_t
	if err := again(func() error { return unix.Fstat(int(f.Fd()), &open) }); err != nil {
		return false, &fs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	err := again(func() error { return unix.Lstat(path, &there) })
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return open.Dev == there.Dev && open.Ino == there.Ino, nil
}

// ErrNotRegular is wrapped by a *fs.PathError: in the place of a file is
// something that could keep a reader waiting, or never end.
var ErrNotRegular = errors.New("not a regular file")

// IsSameFile reports whether two paths lead to one file or directory, also through links.
func IsSameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// OpenRegular opens a file for reading without waiting for anybody who writes to
// it: of what is no regular file, such as a FIFO or a device, the error is
// ErrNotRegular.
func OpenRegular(name string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// ReadFile is os.ReadFile, of a regular file: see OpenRegular.
func ReadFile(name string) ([]byte, error) {
	fd, err := open(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	content, err := readAll(fd)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return content, nil
}

// readAll reads to the end, or to the length that the file is said to have: what
// is added meanwhile came later. Files of /proc say that they have none.
func readAll(fd int) ([]byte, error) {
	const least = 512
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return nil, err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		return nil, unix.EISDIR
	default:
		return nil, ErrNotRegular
	}
	content := make([]byte, 0, max(int(st.Size), least))
	for {
		n := 0
		err := again(func() (err error) {
			n, err = unix.Read(fd, content[len(content):cap(content)])
			return err
		})
		if err != nil {
			return nil, err
		}
		content = content[:len(content)+n]
		if n == 0 || int64(len(content)) == st.Size {
			return content, nil
		}
		if len(content) == cap(content) {
			content = append(content, 0)[:len(content)]
		}
	}
}

func open(name string, flags int, perm fs.FileMode) (fd int, err error) {
	err = again(func() (err error) {
		fd, err = unix.Open(name, flags|unix.O_CLOEXEC, uint32(perm.Perm()))
		return err
	})
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return fd, nil
}

// again repeats a system call that a signal interrupts.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}
