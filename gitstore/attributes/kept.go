//go:build linux || darwin

package attributes

import (
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// Kept is what a file, link or directory had beside its name and content.
type Kept struct {
	UID  uint32 `json:"uid"`
	GID  uint32 `json:"gid"`
	Mode Mode   `json:"mode"`
	// Modified is when it was written to, in nanoseconds since 1970.
	Modified int64 `json:"modified"`
	// Names is how many names the file had, 0 for one.
	Names uint64 `json:"names,omitempty"`
	// Sparse says that it took less room than its size: it had holes.
	Sparse bool              `json:"sparse,omitempty"`
	Xattrs map[string][]byte `json:"xattrs,omitempty"`
	// Unread are the extended attributes that are not kept: too large, or not readable.
	Unread []string `json:"unread,omitempty"`
}

// Mode is permission, set-id and sticky bits (07777).
type Mode uint32

// MarshalText implements encoding.TextMarshaler: as people know them.
func (m Mode) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%04o", uint32(m)), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *Mode) UnmarshalText(data []byte) error {
	n, err := strconv.ParseUint(string(data), 8, 32)
	if err != nil || n > 0o7777 {
		return fmt.Errorf("%q is not a file mode", data)
	}
	*m = Mode(n)
	return nil
}

// Lost is one attribute that could not be kept or given, and why.
type Lost struct {
	What string // in words: "owner", "ACL", "attribute user.colour"
	Err  error
}

// OfStat is what the system says of a file, link or directory that is not open.
func OfStat(st beneath.Stat) *Kept {
	k := &Kept{UID: st.UID, GID: st.GID, Mode: Mode(st.Perm()), Modified: st.Mtime}
	if st.Links > 1 && st.Kind() == beneath.File {
		k.Names = st.Links
	}
	return k
}

// Unopened is OfStat of a file or directory that may not be opened: nothing is known of
// its extended attributes.
func Unopened(st beneath.Stat) *Kept {
	k := OfStat(st)
	k.Unread = []string{unlisted}
	return k
}

// Of is what an open file or directory, of which st is known, has, as far as it can be
// recorded.
func Of(file beneath.Opened, st beneath.Stat) *Kept {
	k := All(file, st)
	k.record()
	return k
}

// All is Of for a copy: all extended attributes, whatever their size and names.
func All(file beneath.Opened, st beneath.Stat) *Kept {
	k, fd := OfStat(st), int(file.Fd())
	var system unix.Stat_t
	if err := unix.Fstat(fd, &system); err == nil && st.Kind() == beneath.File {
		k.Sparse = system.Blocks*512 < system.Size
	}
	k.Xattrs, k.Unread = readXattrs(fd)
	return k
}

// Time is when it was written to.
func (k *Kept) Time() time.Time { return time.Unix(0, k.Modified) }

// SameOwner reports whether a file belongs to the same user and group.
func (k *Kept) SameOwner(other *Kept) bool { return k.UID == other.UID && k.GID == other.GID }

const setID = 0o6000

// HasPrivileges reports whether whoever runs it gets rights of somebody else.
func (k *Kept) HasPrivileges() bool { return k.Mode&setID != 0 || k.Xattrs[capabilities] != nil }

// DropPrivileges takes away what was given to one content and is not for another.
func (k *Kept) DropPrivileges() {
	k.Mode &^= setID
	delete(k.Xattrs, capabilities)
}

// TakePrivileges takes over what was given to the same content, unless the file belongs
// to somebody else by now.
func (k *Kept) TakePrivileges(of *Kept) {
	k.DropPrivileges()
	if !k.SameOwner(of) {
		return
	}
	k.Mode |= of.Mode & setID
	if value, ok := of.Xattrs[capabilities]; ok {
		if k.Xattrs == nil {
			k.Xattrs = map[string][]byte{}
		}
		k.Xattrs[capabilities] = value
	}
}
