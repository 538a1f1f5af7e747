//go:build unix

package beneath

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Mkdir makes a directory with the permission bits perm, less the umask.
func (r *Root) Mkdir(path string, perm uint32) error {
	return r.at("mkdir", path, true, func(fd int, name string) error {
		return unix.Mkdirat(fd, name, perm)
	})
}

// MkdirAll makes path and what is missing above it. A directory that exists
// is left as it is; a file or link in the way is an error.
func (r *Root) MkdirAll(path string, perm uint32) error {
	if err := CheckPath(path); err != nil {
		return pathError("mkdir", path, err)
	}
	fd := r.fd
	for rest, more := path, true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		err := ignoringEINTR(func() error { return unix.Mkdirat(fd, name, perm) })
		var next int
		if err == nil || err == unix.EEXIST {
			next, err = openDirectory(fd, name, handleFlags)
		}
		if fd != r.fd {
			_ = unix.Close(fd)
		}
		if err != nil {
			return pathError("mkdir", path, err)
		}
		fd = next
	}
	_ = unix.Close(fd)
	return nil
}

// Rmdir removes an empty directory.
func (r *Root) Rmdir(path string) error {
	return r.at("rmdir", path, true, func(fd int, name string) error {
		return unix.Unlinkat(fd, name, unix.AT_REMOVEDIR)
	})
}

// Unlink removes a name that is the caller's own, such as a staged file. A
// file of the user's is never unlinked but renamed into quarantine (I8).
func (r *Root) Unlink(path string) error {
	return r.at("unlink", path, true, func(fd int, name string) error {
		return unix.Unlinkat(fd, name, 0)
	})
}

// Symlink makes a symbolic link with the given target; an existing name is
// fs.ErrExist.
func (r *Root) Symlink(target, path string) error {
	return r.at("symlink", path, true, func(fd int, name string) error {
		return unix.Symlinkat(target, fd, name)
	})
}

// Create makes a new regular file for reading and writing, with the
// permission bits perm less the umask; an existing name is fs.ErrExist. The
// caller closes it.
func (r *Root) Create(path string, perm uint32) (*os.File, error) {
	opened := -1
	err := r.at("create", path, true, func(fd int, name string) (err error) {
		opened, err = createAt(fd, name, perm)
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(opened), path), nil
}

// Create is Root.Create for the entry name: where many files are made in one
// directory, its path is resolved once.
func (d *Dir) Create(name string, perm uint32) (*os.File, error) {
	opened := -1
	err := d.change("create", name, func() (err error) {
		opened, err = createAt(d.fd, name, perm)
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(opened), d.join(name)), nil
}

// Symlink is Root.Symlink for the entry name.
func (d *Dir) Symlink(target, name string) error {
	return d.change("symlink", name, func() error { return unix.Symlinkat(target, d.fd, name) })
}

// Unlink is Root.Unlink for the entry name.
func (d *Dir) Unlink(name string) error {
	return d.change("unlink", name, func() error { return unix.Unlinkat(d.fd, name, 0) })
}

// change runs one system call that changes the entry name.
func (d *Dir) change(op, name string, call func() error) error {
	err := checkName(name)
	if err == nil {
		err = CheckPath(name)
	}
	if err == nil {
		err = ignoringEINTR(call)
	}
	return pathError(op, d.join(name), err)
}

func createAt(fd int, name string, perm uint32) (int, error) {
	const flags = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	return unix.Openat(fd, name, flags, perm)
}

// Chmod sets the permission bits (07777) of a file or directory, also one
// that may not be opened; on a link it is ErrSymlink and changes nothing.
func (r *Root) Chmod(path string, perm uint32) error {
	return r.at("chmod", path, true, func(fd int, name string) error {
		return chmodAt(fd, name, perm)
	})
}

// Chown sets the owner of a file, directory or link, which is not followed.
func (r *Root) Chown(path string, uid, gid int) error {
	return r.at("chown", path, true, func(fd int, name string) error {
		return unix.Fchownat(fd, name, uid, gid, unix.AT_SYMLINK_NOFOLLOW)
	})
}

// Chtimes sets the access and modification time of a file, directory or
// link, which is not followed.
func (r *Root) Chtimes(path string, atime, mtime time.Time) error {
	var times []unix.Timespec
	for _, t := range []time.Time{atime, mtime} {
		spec, err := unix.TimeToTimespec(t)
		if err != nil {
			return pathError("chtimes", path, err)
		}
		times = append(times, spec)
	}
	return r.at("chtimes", path, true, func(fd int, name string) error {
		return unix.UtimesNanoAt(fd, name, times, unix.AT_SYMLINK_NOFOLLOW)
	})
}

// Sync makes the content of the file at path durable.
func (r *Root) Sync(path string) error {
	file, _, err := r.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// SyncDir makes the names of a directory durable; "" is the root itself.
func (r *Root) SyncDir(path string) error {
	dir, err := r.OpenDir(path)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(dir.fd), path)
	return errors.Join(file.Sync(), file.Close())
}

// Exchange swaps two names atomically: at no moment is either missing, and
// nothing is lost. Both must exist. ErrNoExchange where it cannot be done,
// ErrCrossDevice between file systems.
func Exchange(a *Root, aPath string, b *Root, bPath string) error {
	return between("exchange", a, aPath, b, bPath, a.guard(b, exchangeAt))
}

// RenameNoReplace renames, within one root or from one to another, unless
// the new name exists (fs.ErrExist). ErrNoExchange where that cannot be done
// atomically, ErrCrossDevice between file systems.
func RenameNoReplace(from *Root, fromPath string, to *Root, toPath string) error {
	return between("rename", from, fromPath, to, toPath, from.guard(to, renameNoReplaceAt))
}

type renameCall func(fromFd int, fromName string, toFd int, toName string) error

func (r *Root) guard(other *Root, call renameCall) renameCall {
	if r.noExchange || other.noExchange {
		return func(int, string, int, string) error { return ErrNoExchange }
	}
	return call
}

// Rename renames and REPLACES what is at the new name. It is only for a new
// name that nobody else writes to, such as one in the quarantine;
// ErrCrossDevice between file systems.
func Rename(from *Root, fromPath string, to *Root, toPath string) error {
	return between("rename", from, fromPath, to, toPath, unix.Renameat)
}

// Link gives the file at fromPath a second name, unless that exists
// (fs.ErrExist). A symbolic link is linked itself.
func Link(from *Root, fromPath string, to *Root, toPath string) error {
	return between("link", from, fromPath, to, toPath,
		func(fromFd int, fromName string, toFd int, toName string) error {
			return unix.Linkat(fromFd, fromName, toFd, toName, 0)
		})
}

// Exists reports whether anything is at path. Only "no such entry" is no;
// what could not be looked at is an error (H3).
func (r *Root) Exists(path string) (bool, error) {
	_, err := r.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return false, nil
	}
	return err == nil, err
}

func unsupported(err error) error {
	if err == unix.EINVAL || err == unix.ENOSYS || err == unix.ENOTSUP || err == unix.EOPNOTSUPP {
		return ErrNoExchange
	}
	return err
}
