//go:build linux || darwin

package beneath

import (
	"bytes"
	"strings"

	"golang.org/x/sys/unix"
)

// Uncarried is one attribute that CopyAttributes could not put on the new
// file, and why.
type Uncarried struct {
	What string // "owner", "mode", "xattr <name>", "xattrs"
	Err  error
}

// Opened is an open file: a Handle or an *os.File.
type Opened interface{ Fd() uintptr }

// CopyAttributes gives the file to the owner, extended attributes (POSIX ACLs
// among them on Linux) of the file from, and the permission bits perm. What
// could not be carried is returned, nothing is fatal: content counts more.
func CopyAttributes(from, to Opened, perm uint32) []Uncarried {
	var left []Uncarried
	note := func(what string, err error) {
		if err != nil {
			left = append(left, Uncarried{What: what, Err: err})
		}
	}
	source, target := int(from.Fd()), int(to.Fd())
	note("owner", copyOwner(source, target))
	for _, failed := range copyXattrs(source, target) {
		note(failed.What, failed.Err)
	}
	// Last: a change of owner clears set-id bits, an ACL brings its own mode.
	note("mode", unix.Fchmod(target, perm))
	return left
}

func copyOwner(source, target int) error {
	var have, want unix.Stat_t
	if err := unix.Fstat(source, &want); err != nil {
		return err
	}
	if err := unix.Fstat(target, &have); err != nil {
		return err
	}
	if have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	err := unix.Fchown(target, int(want.Uid), int(want.Gid))
	if err != nil && have.Gid != want.Gid {
		// The group alone may be allowed where the owner is not.
		_ = unix.Fchown(target, -1, int(want.Gid))
	}
	return err
}

func copyXattrs(source, target int) []Uncarried {
	names, err := xattrNames(source)
	if err != nil {
		return []Uncarried{{What: "xattrs", Err: err}}
	}
	var left []Uncarried
	for _, name := range names {
		value, err := xattrValue(source, name)
		if err == nil {
			have, haveErr := xattrValue(target, name)
			if haveErr == nil && bytes.Equal(have, value) {
				continue
			}
			err = unix.Fsetxattr(target, name, value, 0)
		}
		if err != nil {
			left = append(left, Uncarried{What: "xattr " + name, Err: err})
		}
	}
	return left
}

func xattrNames(fd int) ([]string, error) {
	list, err := sized(func(buffer []byte) (int, error) { return unix.Flistxattr(fd, buffer) })
	if err == unix.ENOTSUP || err == unix.EOPNOTSUPP {
		return nil, nil
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00"), nil
}

func xattrValue(fd int, name string) ([]byte, error) {
	return sized(func(buffer []byte) (int, error) { return unix.Fgetxattr(fd, name, buffer) })
}

// sized asks for the size and then for the value, again if it grew between.
func sized(call func([]byte) (int, error)) ([]byte, error) {
	for {
		size, err := call(nil)
		if err != nil || size == 0 {
			return nil, err
		}
		buffer := make([]byte, size)
		n, err := call(buffer)
		if err == unix.ERANGE {
			continue
		}
		if err != nil {
			return nil, err
		}
		return buffer[:n], nil
	}
}
