package beneath

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Errors of this package, always found with errors.Is.
var (
	// ErrHostilePath is returned for a path that could not have come from a
	// capture: empty, absolute, with an empty, "." or ".." component, or a NUL.
	ErrHostilePath = errors.New("path is not allowed")
	// ErrReserved is returned by operations that would change a name that is
	// ".git" or that some file system takes for ".git".
	ErrReserved = errors.New("name is reserved for git")
	// ErrSymlink is returned when a component of a path, or the last one where
	// a file or directory is wanted, is a symbolic link.
	ErrSymlink = errors.New("a symbolic link is in the way")
	// ErrNotRegular is returned by Open for anything but a regular file.
	ErrNotRegular = errors.New("not a regular file")
	// ErrNoExchange is returned by Exchange and RenameNoReplace where the
	// system or the file system cannot do them atomically; nothing was done.
	ErrNoExchange = errors.New("atomic exchange is not supported here")
	// ErrCrossDevice is returned by renames and links between file systems.
	ErrCrossDevice = errors.New("on another file system")
	// ErrMoved is returned by Verify when the root's path no longer names the
	// directory that was opened.
	ErrMoved = errors.New("root directory was moved or replaced")
)

func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: translate(err)}
}

func linkError(op, from, to string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: from, New: to, Err: translate(err)}
}

func translate(err error) error {
	switch {
	case errors.Is(err, syscall.ELOOP):
		return ErrSymlink
	case errors.Is(err, syscall.EXDEV):
		return ErrCrossDevice
	}
	return err
}
