package beneath

import "golang.org/x/sys/unix"

func fileSystemOf(st *unix.Statfs_t) FileSystem {
	name := unix.ByteSliceToString(st.Fstypename[:])
	return FileSystem{
		Name:        name,
		Pseudo:      name == "devfs" || name == "autofs",
		Remote:      st.Flags&unix.MNT_LOCAL == 0,
		CoarseTimes: name == "hfs" || name == "msdos" || name == "exfat",
	}
}
