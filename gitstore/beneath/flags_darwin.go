package beneath

import "golang.org/x/sys/unix"

// The flags of chflags(2), of the owner and of the system.
const (
	flagImmutable  = 0x2 | 0x20000
	flagAppendOnly = 0x4 | 0x40000
)

// flagsOf are none where the system does not tell.
func flagsOf(fd int, name string) flags {
	var st unix.Stat_t
	if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return flags{}
	}
	return flags{immutable: st.Flags&flagImmutable != 0, appendOnly: st.Flags&flagAppendOnly != 0}
}
