package beneath

import "golang.org/x/sys/unix"

// flagsOf are none where the system or the file system does not tell.
func flagsOf(fd int, name string) flags {
	var st unix.Statx_t
	err := ignoringEINTR(func() error {
		return unix.Statx(fd, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, 0, &st)
	})
	if err != nil {
		return flags{}
	}
	has := func(attribute uint64) bool { return st.Attributes&attribute != 0 }
	return flags{
		immutable: has(unix.STATX_ATTR_IMMUTABLE), appendOnly: has(unix.STATX_ATTR_APPEND),
		mounted: name != "." && has(unix.STATX_ATTR_MOUNT_ROOT),
	}
}
