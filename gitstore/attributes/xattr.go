//go:build linux || darwin

package attributes

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// The names under which Linux has what is more than a text to it.
const (
	accessACL    = "system.posix_acl_access"
	defaultACL   = "system.posix_acl_default"
	capabilities = "security.capability"
)

// unlisted stands for all attributes of a file whose names could not be read: an ACL may
// be among them.
const unlisted = ""

// maxXattrs is how much of one file's extended attributes is kept: what Linux keeps
// beside an inode, and not the resource forks of macOS.
const maxXattrs = 64 << 10

// inWords names an extended attribute for the user.
func inWords(name string) string {
	switch name {
	case accessACL:
		return "ACL"
	case defaultACL:
		return "default ACL"
	case capabilities:
		return "capabilities"
	case unlisted:
		return "extended attributes"
	}
	return "attribute " + name
}

// readXattrs reads all of a file's, and lists those that could not be read.
func readXattrs(fd int) (values map[string][]byte, unread []string) {
	names, err := xattrNames(fd)
	if err != nil {
		return nil, []string{unlisted}
	}
	for _, name := range names {
		value, err := xattrValue(fd, name)
		if err != nil {
			unread = append(unread, name)
			continue
		}
		if values == nil {
			values = map[string][]byte{}
		}
		values[name] = value
	}
	return values, unread
}

// record leaves only those extended attributes that a document may hold, and lists the
// others.
func (k *Kept) record() {
	room := maxXattrs
	for _, name := range slices.Sorted(maps.Keys(k.Xattrs)) {
		size := len(k.Xattrs[name])
		if size > room || !utf8.ValidString(name) {
			k.Unread = append(k.Unread, name)
			delete(k.Xattrs, name)
			continue
		}
		room -= size
	}
	for i, name := range k.Unread {
		k.Unread[i] = strings.ToValidUTF8(name, "?")
	}
	slices.Sort(k.Unread)
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
