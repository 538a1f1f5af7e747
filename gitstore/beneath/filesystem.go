//go:build unix

package beneath

import "golang.org/x/sys/unix"

// FileSystem is what must be known of the one a directory is on.
type FileSystem struct {
	// Name is its type, such as "ext" or "nfs", for messages; "" if unknown.
	Name string
	// Pseudo: the kernel makes up its files (proc, sysfs and the like).
	Pseudo bool
	// Remote: files may change without this kernel's knowing, and are stamped
	// by another clock (network file systems, FUSE, 9p).
	Remote bool
	// CoarseTimes: times are kept in seconds, or every other second.
	CoarseTimes bool
	// StampsNames: it is local, and known to bring a directory's times of
	// modification and of status change to the present whenever a name in it is
	// made, removed or renamed.
	StampsNames bool
}

// FileSystem describes the file system that the directory is on.
func (d *Dir) FileSystem() (FileSystem, error) {
	var st unix.Statfs_t
	if err := ignoringEINTR(func() error { return unix.Fstatfs(d.fd, &st) }); err != nil {
		return FileSystem{}, pathError("statfs", d.path, err)
	}
	return fileSystemOf(&st), nil
}
