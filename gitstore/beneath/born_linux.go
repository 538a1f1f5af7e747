package beneath

import "golang.org/x/sys/unix"

// Born is when what path leads to was made, in nanoseconds; 0 where the file system
// does not say. With the inode it tells a directory from one that was made later
// with the same inode, and is the same when the device has another number.
func Born(path string) int64 {
	var st unix.Statx_t
	err := ignoringEINTR(func() error { return unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BTIME, &st) })
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}
