//go:build unix

package beneath

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Identity is a directory's device and inode: two directories with one
// identity are one directory, whatever their paths.
type Identity struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// Options turn off what the system could do, so that the fallbacks can be
// tested and, on a system where one misbehaves, chosen.
type Options struct {
	// StepByStep resolves paths one component at a time instead of by openat2.
	StepByStep bool
	// NoExchange makes Exchange and RenameNoReplace answer ErrNoExchange.
	NoExchange bool
}

// Root is an open directory that confines every operation made through it.
// It is safe for concurrent use until Close.
type Root struct {
	path       string
	dir        *os.File
	fd         int
	identity   Identity
	noExchange bool
	stepByStep atomic.Bool
}

// Open opens the directory at root. Links in root itself are followed: from
// then on the directory is known by its handle. The caller closes it.
func Open(root string) (*Root, error) { return OpenWith(root, Options{}) }

// OpenWith is Open with some abilities turned off.
func OpenWith(root string, options Options) (*Root, error) {
	dir, err := os.OpenFile(root, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	fd := int(dir.Fd())
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		dir.Close()
		return nil, pathError("stat", root, err)
	}
	r := &Root{path: root, dir: dir, fd: fd, identity: statOf(&st).Identity(), noExchange: options.NoExchange}
	r.stepByStep.Store(options.StepByStep)
	return r, nil
}

// Close releases the handle. Directories opened from the root stay usable.
func (r *Root) Close() error { return r.dir.Close() }

// Path is the path that the root was opened by, for messages.
func (r *Root) Path() string { return r.path }

// Identity is the device and inode of the directory that was opened.
func (r *Root) Identity() Identity { return r.identity }

// Verify proves that the root's path still names the directory that was
// opened; otherwise the error is ErrMoved.
func (r *Root) Verify() error {
	var st unix.Stat_t
	err := ignoringEINTR(func() error { return unix.Stat(r.path, &st) })
	if err != nil {
		return fmt.Errorf("%s: %w: %w", r.path, ErrMoved, err)
	}
	if statOf(&st).Identity() != r.identity {
		return fmt.Errorf("%s: %w", r.path, ErrMoved)
	}
	return nil
}

// place is a directory's descriptor and a name in it.
type place struct {
	fd    int
	name  string
	owned bool
}

func (p place) close() {
	if p.owned {
		_ = unix.Close(p.fd)
	}
}

// locate opens the directory that holds path. Changing operations refuse
// reserved names, reading ones only paths that lead out of the root.
func (r *Root) locate(path string, changing bool) (place, error) {
	check := checkForm
	if changing {
		check = CheckPath
	}
	if err := check(path); err != nil {
		return place{}, err
	}
	slash := strings.LastIndexByte(path, '/')
	if slash < 0 {
		return place{fd: r.fd, name: path}, nil
	}
	fd, err := r.openPath(r.fd, path[:slash], handleFlags)
	if err != nil {
		return place{}, err
	}
	return place{fd: fd, name: path[slash+1:], owned: true}, nil
}

// at runs one system call on path's directory and name.
func (r *Root) at(op, path string, changing bool, call func(fd int, name string) error) error {
	p, err := r.locate(path, changing)
	if err != nil {
		return pathError(op, path, err)
	}
	defer p.close()
	return pathError(op, path, ignoringEINTR(func() error { return call(p.fd, p.name) }))
}

// between runs one system call on two paths of two roots, which may be one.
func between(op string, from *Root, fromPath string, to *Root, toPath string,
	call func(fromFd int, fromName string, toFd int, toName string) error) error {
	a, err := from.locate(fromPath, true)
	if err != nil {
		return pathError(op, fromPath, err)
	}
	defer a.close()
	b, err := to.locate(toPath, true)
	if err != nil {
		return pathError(op, toPath, err)
	}
	defer b.close()
	return linkError(op, fromPath, toPath, ignoringEINTR(func() error {
		return call(a.fd, a.name, b.fd, b.name)
	}))
}

func ignoringEINTR(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

// Lstat describes what is at path, without following it.
func (r *Root) Lstat(path string) (Stat, error) {
	var st unix.Stat_t
	err := r.at("lstat", path, false, func(fd int, name string) error {
		return unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	if err != nil {
		return Stat{}, err
	}
	return statOf(&st), nil
}

// Open opens a regular file for reading and describes it; a FIFO or device is
// ErrNotRegular and does not block. The caller closes the file.
func (r *Root) Open(path string) (*os.File, Stat, error) {
	p, err := r.locate(path, false)
	if err != nil {
		return nil, Stat{}, pathError("open", path, err)
	}
	defer p.close()
	return openRegular(p.fd, p.name, path)
}

// Readlink returns the target of the symbolic link at path.
func (r *Root) Readlink(path string) (string, error) {
	p, err := r.locate(path, false)
	if err != nil {
		return "", pathError("readlink", path, err)
	}
	defer p.close()
	return readlinkAt(p.fd, p.name, path)
}

// OpenDir opens a directory below the root; "" is the root itself. The caller
// closes it.
func (r *Root) OpenDir(path string) (*Dir, error) {
	if path == "" {
		fd, err := r.openOne(r.fd, ".", listFlags)
		return newDir(fd, r, "", err)
	}
	if err := checkForm(path); err != nil {
		return nil, pathError("open", path, err)
	}
	fd, err := r.openPath(r.fd, path, listFlags)
	return newDir(fd, r, path, err)
}

// ReadDir lists a directory, unsorted; "" is the root itself.
func (r *Root) ReadDir(path string) ([]Entry, error) {
	dir, err := r.OpenDir(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.ReadDir(nil)
}

// openPath opens a directory below fd, in pieces shorter than PATH_MAX.
func (r *Root) openPath(fd int, path string, flags int) (int, error) {
	const most = 4000 // PATH_MAX is 4,096 with its NUL, a name at most 255 bytes
	if r.stepByStep.Load() || !canResolve {
		return openStepwise(fd, path, flags)
	}
	start := fd
	for {
		piece, rest := path, ""
		if len(path) > most {
			cut := strings.LastIndexByte(path[:most], '/')
			if cut < 0 {
				cut = strings.IndexByte(path, '/')
			}
			if cut >= 0 {
				piece, rest = path[:cut], path[cut+1:]
			}
		}
		use := flags
		if rest != "" {
			use = handleFlags
		}
		next, err := r.openOne(start, piece, use)
		if start != fd {
			_ = unix.Close(start)
		}
		if err != nil || rest == "" {
			return next, err
		}
		start, path = next, rest
	}
}

// openOne opens path below fd by the kernel's own confinement, or step by
// step once that turned out to be missing: ENOSYS from an old kernel, EPERM
// from a seccomp filter that does not know openat2.
func (r *Root) openOne(fd int, path string, flags int) (int, error) {
	if canResolve && !r.stepByStep.Load() {
		next, err := openResolved(fd, path, flags)
		if err != unix.ENOSYS && err != unix.EPERM {
			return next, err
		}
		r.stepByStep.Store(true)
	}
	return openStepwise(fd, path, flags)
}

// openStepwise opens path one component at a time, refusing links.
func openStepwise(fd int, path string, flags int) (int, error) {
	start := fd
	for {
		name, rest, more := strings.Cut(path, "/")
		use := flags
		if more {
			use = handleFlags
		}
		next, err := openDirectory(start, name, use)
		if start != fd {
			_ = unix.Close(start)
		}
		if err != nil || !more {
			return next, err
		}
		start, path = next, rest
	}
}

func openDirectory(fd int, name string, flags int) (int, error) {
	var next int
	err := ignoringEINTR(func() (err error) {
		next, err = unix.Openat(fd, name, flags|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		return err
	})
	if err == unix.ENOTDIR {
		// O_DIRECTORY hides that it was a link that O_NOFOLLOW refused.
		var st unix.Stat_t
		if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			return -1, ErrSymlink
		}
	}
	if err != nil {
		return -1, err
	}
	return next, nil
}
