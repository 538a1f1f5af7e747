//go:build linux || darwin

package attributes

import (
	"bytes"
	"errors"
	"maps"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// The reasons for which an attribute is lost that are not the system's.
var (
	ErrNotKept    = errors.New("not kept: too large, or not readable")
	ErrNotAllowed = errors.New("not allowed to whoever runs Umbra")
	// ErrNoSnapshot is why a file or directory of which only a snapshot tells has no ACL
	// of its own.
	ErrNoSnapshot = errors.New("no snapshot has it")
	// ErrMaybeMask is why its group has fewer rights than were recorded.
	ErrMaybeMask = errors.New("they may have been the mask of an ACL")
)

// Bits is what Give has lost where the mode is as it was.
const Bits = "permission bits"

// Give gives what was kept, but for the time and the holes, to an open file or
// directory. What could not be given is returned. Nothing is fatal: content counts more.
func (k *Kept) Give(file beneath.Opened) []Lost {
	g := giving{kept: k, fd: int(file.Fd()), mode: uint32(k.Mode)}
	g.owner()
	g.xattrs()
	g.bits()
	return g.lost
}

// giving is one Give.
type giving struct {
	kept *Kept
	fd   int
	mode uint32 // what of the mode is left
	lost []Lost
}

func (g *giving) lose(what string, err error) {
	if err != nil {
		g.lost = append(g.lost, Lost{what, err})
	}
}

// owner gives user and group. Bits that depend on one that could not be given go: the
// rights of the group would be another group's, and the program would run as another.
func (g *giving) owner() {
	k := g.kept
	var have unix.Stat_t
	if err := unix.Fstat(g.fd, &have); err == nil && have.Uid == k.UID && have.Gid == k.GID {
		return
	}
	err := unix.Fchown(g.fd, int(k.UID), int(k.GID))
	if err == nil {
		return
	}
	// The group alone may be allowed where the owner is not.
	groupErr := unix.Fchown(g.fd, -1, int(k.GID))
	if have.Uid == k.UID {
		g.lose("group", err)
	} else {
		g.lose("owner", err)
		g.mode &^= setID
	}
	if groupErr != nil {
		g.mode &^= setID
	}
	// Whoever was the owner or in the group is among the others now, and may have been
	// denied what they are allowed.
	if have.Uid != k.UID {
		g.limit(g.mode >> 6)
	}
	if groupErr != nil {
		g.limit(g.groupRights())
		g.limit(g.mode)
	}
}

// limit takes from the group and the others all rights but these.
func (g *giving) limit(rights uint32) { g.mode &= ^uint32(0o077) | rights&7*0o011 }

// groupRights are what the file's group might do, none if that is not known.
func (g *giving) groupRights() uint32 {
	if g.lacksACL() {
		return 0
	}
	value, ok := g.kept.Xattrs[accessACL]
	if !ok {
		return g.mode >> 3
	}
	a, _ := parseACL(value)
	return a.groupRights()
}

// lacksACL tells whether the file may have had an ACL that is not kept.
func (g *giving) lacksACL() bool {
	return slices.Contains(g.kept.Unread, accessACL) || slices.Contains(g.kept.Unread, unlisted)
}

// bits comes last: a change of owner clears set-id bits, and an ACL brings a mode.
func (g *giving) bits() {
	if err := unix.Fchmod(g.fd, g.mode); err != nil {
		g.lose(Bits, err)
		return
	}
	if g.kept.Mode&setID == 0 {
		return
	}
	var have unix.Stat_t
	if err := unix.Fstat(g.fd, &have); err == nil && uint32(have.Mode)&setID != uint32(g.kept.Mode)&setID {
		g.lose("set-user-ID or set-group-ID bit", ErrNotAllowed)
	}
}

func (g *giving) xattrs() {
	k := g.kept
	for _, name := range k.Unread {
		g.lose(inWords(name), ErrNotKept)
	}
	if g.lacksACL() {
		g.limit(0) // the group's bits are the mask's, and nothing says whom the ACL denied what
	}
	g.removeInherited()
	for _, name := range slices.Sorted(maps.Keys(k.Xattrs)) {
		value := k.Xattrs[name]
		if name == accessACL {
			g.acl(value)
			continue
		}
		g.lose(inWords(name), setXattr(g.fd, name, value))
	}
}

// removeInherited takes away the ACLs that a directory above has given and that were not
// there.
func (g *giving) removeInherited() {
	have, err := xattrNames(g.fd)
	if err != nil {
		return
	}
	for _, name := range []string{accessACL, defaultACL} {
		if _, kept := g.kept.Xattrs[name]; !kept && slices.Contains(have, name) {
			g.lose(inWords(name), unix.Fremovexattr(g.fd, name))
		}
	}
}

// acl gives an access ACL. Where there is none, the mode's bits of the group, which are
// the ACL's mask, would be the group's own, and whom the ACL denied something would be in
// the group or among the others.
func (g *giving) acl(value []byte) {
	a, ok := parseACL(value)
	if ok {
		a = a.limitedTo(g.mode)
		value = a.bytes()
	}
	err := setXattr(g.fd, accessACL, value)
	if err == nil {
		return
	}
	g.lose(inWords(accessACL), err)
	if !ok {
		g.limit(0)
		return
	}
	g.mode &= ^uint32(0o070) | a.groupRights()<<3
	for _, rights := range a.namedRights() {
		g.limit(rights)
	}
}

func setXattr(fd int, name string, value []byte) error {
	if have, err := xattrValue(fd, name); err == nil && bytes.Equal(have, value) {
		return nil
	}
	return unix.Fsetxattr(fd, name, value, 0)
}
