package home

// DirectoryIdentity tells a directory from any other, whatever its path, for longer than
// a FileIdentity: a remount gives a device another number, and the inode of a directory
// that was removed becomes another's.
type DirectoryIdentity struct {
	FileIdentity
	Born int64 `json:"born,omitempty"` // when it was made, in nanoseconds; 0 where the file system does not say
}

// Is reports whether both are one directory. Where one of them has no time of birth, the
// device and the inode decide.
func (d DirectoryIdentity) Is(now DirectoryIdentity) bool {
	return d.FileIdentity == now.FileIdentity && (d.Born == now.Born || d.Born == 0 || now.Born == 0)
}

// IsRenumbered reports whether both can be one directory whose device has another number
// since, as after a remount. That is so only if the path is the same: the snapshots
// of some file systems are copies with the same inodes and times of birth.
func (d DirectoryIdentity) IsRenumbered(now DirectoryIdentity) bool {
	return d.Device != now.Device && d.Inode == now.Inode && d.Born == now.Born && d.Born != 0
}
