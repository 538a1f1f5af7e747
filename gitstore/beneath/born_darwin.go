package beneath

import "golang.org/x/sys/unix"

// Born is when what path leads to was made, in nanoseconds; 0 where the file system
// does not say. With the inode it tells a directory from one that was made later
// with the same inode, and is the same when the device has another number.
func Born(path string) int64 {
	var st unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Stat(path, &st) }); err != nil {
		return 0
	}
	return st.Btim.Nano()
}
