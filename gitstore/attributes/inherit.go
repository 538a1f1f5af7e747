//go:build linux || darwin

package attributes

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// Inherit gives a file or directory of which only permission bits are known what it would
// have got in the directory above, in which it need not have been made: its group if that
// has the set-group-ID bit, and rights by its default ACL. Perm is the most that it may
// get; exact says that without an ACL it gets just that, past the umask, and else stays as
// it was made. If the directory above has an ACL, so may have had what is given, and its
// group gets no more than all others.
func Inherit(above, made beneath.Opened, perm uint32, exact bool) []Lost {
	var st unix.Stat_t
	from, to := int(above.Fd()), int(made.Fd())
	if err := unix.Fstat(from, &st); err == nil && uint32(st.Mode)&unix.S_ISGID != 0 {
		// That it may not be given to the group is no reason not to have it.
		_ = unix.Fchown(to, -1, int(st.Gid))
	}
	k := Kept{Mode: Mode(perm)}
	g := giving{kept: &k, fd: to, mode: perm}
	byDefault := readACL(from, defaultACL)
	switch {
	case byDefault == nil && !hasACL(from):
		if !exact {
			return nil
		}
	case byDefault == nil:
		g.lose("an ACL, if there was one,", ErrNoSnapshot)
		if !exact {
			return g.lost
		}
		if g.mode = WithoutMask(perm); g.mode != perm {
			g.lose("rights of the group", ErrMaybeMask)
		}
	default:
		g.lose("an ACL, if there was one,", ErrNoSnapshot)
		a := byDefault.limitedTo(perm)
		g.mode = perm&^0o777 | a.mode()
		if len(a) > minimal {
			g.acl(a.bytes())
		}
	}
	g.bits()
	return g.lost
}

// WithoutMask are permission bits that were recorded without an ACL: the group's may be
// the ACL's mask, which allows a group nothing. What all others may do a group may do too.
func WithoutMask(perm uint32) uint32 { return perm&^0o070 | perm&0o070&(perm&7<<3) }

// HasACL reports whether an open file or directory has an ACL that says more than its
// mode, or gives one to what is made in it; also if that can't be told.
func HasACL(of beneath.Opened) bool { return hasACL(int(of.Fd())) || HasDefaultACL(of) }

// HasDefaultACL reports whether what is made in an open directory gets an ACL.
func HasDefaultACL(dir beneath.Opened) bool { return readACL(int(dir.Fd()), defaultACL) != nil }

func hasACL(fd int) bool { return readACL(fd, accessACL) != nil }

// readACL is nil where there is none. One that can't be read allows nobody but the owner
// anything.
func readACL(fd int, name string) acl {
	const nobody = ^uint32(0)
	unread := acl{{tagOwner, 7, nobody}, {tagGroup, 0, nobody}, {tagOther, 0, nobody}}
	for {
		value, err := xattrValue(fd, name)
		switch {
		case err == unix.EINTR:
			continue
		case err == nil && len(value) == 0, slices.Contains(withoutACL(), err):
			return nil
		}
		if a, ok := parseACL(value); ok && err == nil {
			return a
		}
		return unread
	}
}

// withoutACL are the errors that say that there is no ACL, or can be none.
func withoutACL() []error {
	return []error{unix.ENODATA, noAttribute, unix.ENOTSUP, unix.EOPNOTSUPP, unix.ENOSYS, unix.EINVAL}
}

// noAttribute is what macOS says where Linux says ENODATA.
const noAttribute = unix.Errno(93)
