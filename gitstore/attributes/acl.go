package attributes

import "encoding/binary"

// acl is a POSIX ACL as Linux stores it (include/uapi/linux/posix_acl_xattr.h): a version,
// then entries of tag, rights and id, little endian.
type acl []aclEntry

type aclEntry struct {
	tag, rights uint16
	id          uint32
}

// The tags (include/uapi/linux/posix_acl.h).
const (
	tagOwner      = 0x01
	tagNamedUser  = 0x02
	tagGroup      = 0x04
	tagNamedGroup = 0x08
	tagMask       = 0x10
	tagOther      = 0x20
)

const (
	aclVersion = 2
	aclHeader  = 4
	aclSize    = 8
	// minimal is how many entries an ACL has that says no more than a mode.
	minimal = 3
)

func parseACL(value []byte) (acl, bool) {
	if len(value) < aclHeader || (len(value)-aclHeader)%aclSize != 0 || binary.LittleEndian.Uint32(value) != aclVersion {
		return nil, false
	}
	var a acl
	for rest := value[aclHeader:]; len(rest) > 0; rest = rest[aclSize:] {
		a = append(a, aclEntry{binary.LittleEndian.Uint16(rest), binary.LittleEndian.Uint16(rest[2:]), binary.LittleEndian.Uint32(rest[4:])})
	}
	return a, true
}

func (a acl) bytes() []byte {
	out := binary.LittleEndian.AppendUint32(nil, aclVersion)
	for _, e := range a {
		out = binary.LittleEndian.AppendUint16(out, e.tag)
		out = binary.LittleEndian.AppendUint16(out, e.rights)
		out = binary.LittleEndian.AppendUint32(out, e.id)
	}
	return out
}

// rights are those of an entry without an id; there may be none.
func (a acl) rights(tag uint16) (rights uint32, ok bool) {
	for _, e := range a {
		if e.tag == tag {
			return uint32(e.rights), true
		}
	}
	return 0, false
}

// groupRights are what the file's group may do.
func (a acl) groupRights() uint32 {
	group, _ := a.rights(tagGroup)
	return group & a.mask()
}

// namedRights are what each user and group may do that has an entry of its own.
func (a acl) namedRights() (list []uint32) {
	for _, e := range a {
		if e.tag == tagNamedUser || e.tag == tagNamedGroup {
			list = append(list, uint32(e.rights)&a.mask())
		}
	}
	return list
}

// mask is the most that the group and the named entries may do.
func (a acl) mask() uint32 {
	if mask, ok := a.rights(tagMask); ok {
		return mask
	}
	return 7
}

// mode is the permission bits that a file with this ACL shows.
func (a acl) mode() uint32 {
	owner, _ := a.rights(tagOwner)
	other, _ := a.rights(tagOther)
	group, ok := a.rights(tagMask)
	if !ok {
		group, _ = a.rights(tagGroup)
	}
	return owner<<6 | group<<3 | other
}

// limitedTo is the ACL of a file that was made with these permission bits, as the kernel
// makes it of a default ACL. The owner has what the bits say.
func (a acl) limitedTo(perm uint32) acl {
	out := append(acl{}, a...)
	class := uint16(tagGroup)
	if _, ok := a.rights(tagMask); ok {
		class = tagMask
	}
	for i := range out {
		switch e := &out[i]; e.tag {
		case tagOwner:
			e.rights = uint16(perm >> 6 & 7)
		case class:
			e.rights &= uint16(perm >> 3 & 7)
		case tagOther:
			e.rights &= uint16(perm & 7)
		}
	}
	return out
}
