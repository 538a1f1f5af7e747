//go:build unix

package beneath

import (
	"io"

	"golang.org/x/sys/unix"
)

// Handle is an open regular file with nothing around its descriptor: where very
// many small files are read and made, what os.File does for pipes and terminals
// costs more than the work. Whoever opened it closes it, once; it is for one
// goroutine. Errors name the file without its directory.
type Handle struct {
	fd   int
	name string
}

// OpenHandle is Open for a Handle. Only a regular file is ever read: what else
// it may have opened it closes.
func (d *Dir) OpenHandle(name string) (Handle, Stat, error) {
	if err := checkName(name); err != nil {
		return Handle{}, Stat{}, pathError("open", d.join(name), err)
	}
	fd := -1
	err := ignoringEINTR(func() (err error) {
		// Without O_NONBLOCK a FIFO would hang; to a regular file it means nothing.
		const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
		fd, err = unix.Openat(d.fd, name, flags, 0)
		return err
	})
	if err == unix.ENXIO || err == unix.EOPNOTSUPP {
		err = ErrNotRegular
	}
	if err != nil {
		return Handle{}, Stat{}, pathError("open", d.join(name), err)
	}
	h := Handle{fd, name}
	st, err := h.Stat()
	if err == nil && st.Kind() != File {
		err = pathError("open", d.join(name), ErrNotRegular)
	}
	if err != nil {
		_ = h.Close()
		return Handle{}, Stat{}, err
	}
	return h, st, nil
}

// CreateHandle is Create for a Handle.
func (d *Dir) CreateHandle(name string, perm uint32) (Handle, error) {
	h := Handle{-1, name}
	err := d.change("create", name, func() (err error) {
		h.fd, err = createAt(d.fd, name, perm)
		return err
	})
	return h, err
}

// Fd is the file's descriptor, which stays the Handle's.
func (h Handle) Fd() uintptr { return uintptr(h.fd) }

// Close releases the descriptor.
func (h Handle) Close() error { return pathError("close", h.name, unix.Close(h.fd)) }

// Stat describes the file.
func (h Handle) Stat() (Stat, error) {
	var st unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Fstat(h.fd, &st) }); err != nil {
		return Stat{}, pathError("stat", h.name, err)
	}
	return statOf(&st), nil
}

// Chmod sets the permission bits (07777).
func (h Handle) Chmod(perm uint32) error {
	return pathError("chmod", h.name, ignoringEINTR(func() error { return unix.Fchmod(h.fd, perm) }))
}

// Truncate sets the size.
func (h Handle) Truncate(size int64) error {
	return pathError("truncate", h.name, ignoringEINTR(func() error { return unix.Ftruncate(h.fd, size) }))
}

// ReadAt implements io.ReaderAt.
func (h Handle) ReadAt(p []byte, at int64) (int, error) {
	total := 0
	for total < len(p) {
		n := 0
		err := ignoringEINTR(func() (err error) {
			n, err = unix.Pread(h.fd, p[total:], at+int64(total))
			return err
		})
		if err != nil {
			return total, pathError("read", h.name, err)
		}
		if n == 0 {
			return total, io.EOF
		}
		total += n
	}
	return total, nil
}

// WriteAt implements io.WriterAt.
func (h Handle) WriteAt(p []byte, at int64) (int, error) {
	total := 0
	for total < len(p) {
		n := 0
		err := ignoringEINTR(func() (err error) {
			n, err = unix.Pwrite(h.fd, p[total:], at+int64(total))
			return err
		})
		if err != nil {
			return total, pathError("write", h.name, err)
		}
		total += n
	}
	return total, nil
}
