//go:build unix

package beneath

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Obstacle is why the system does not let this process change a name: one word, "" for
// none.
type Obstacle string

// The obstacles.
const (
	// Forbidden: the file or its directory belongs to somebody else.
	Forbidden Obstacle = "forbidden"
	// Immutable: chattr +i on Linux, chflags uchg on macOS.
	Immutable Obstacle = "immutable"
	// AppendOnly: chattr +a.
	AppendOnly Obstacle = "append-only"
	// ReadOnly: what is mounted there is read-only.
	ReadOnly Obstacle = "read-only"
	// MountPoint: something is mounted at the name itself.
	MountPoint Obstacle = "mount"
)

// ObstacleOf is what an error of a changing operation says stands in the way of one
// name. It is "" for an error that has other reasons, such as a full disk.
func ObstacleOf(err error) Obstacle {
	switch {
	case errors.Is(err, syscall.EROFS):
		return ReadOnly
	case errors.Is(err, syscall.EBUSY):
		return MountPoint
	case errors.Is(err, fs.ErrPermission):
		return Forbidden
	}
	return ""
}

// flags are what a file system has set on a file beside its permission bits.
type flags struct{ immutable, appendOnly, mounted bool }

func (f flags) obstacle() Obstacle {
	switch {
	case f.immutable:
		return Immutable
	case f.appendOnly:
		return AppendOnly
	}
	return ""
}

// ObstacleToRename looks at what stands in the way of making, replacing or removing the
// name at path, and changes nothing. A directory of one's own without write permission
// is none, since its owner can give it that. What is not seen here shows when it is
// tried.
func (r *Root) ObstacleToRename(path string) (Obstacle, error) {
	p, err := r.locate(path, true)
	if err != nil {
		return "", pathError("look at", path, err)
	}
	defer p.close()
	var dir unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Fstat(p.fd, &dir) }); err != nil {
		return "", pathError("stat", path, err)
	}
	own := int(dir.Uid) == os.Geteuid()
	above := flagsOf(p.fd, ".")
	if above.immutable {
		return Immutable, nil
	}
	if isReadOnly(p.fd) {
		return ReadOnly, nil
	}
	err = ignoringEINTR(func() error { return unix.Faccessat(p.fd, ".", unix.W_OK|unix.X_OK, 0) })
	if err != nil && !(own && dir.Mode&0o300 != 0o300) {
		return ObstacleOf(err), nil
	}
	var st unix.Stat_t
	if unix.Fstatat(p.fd, p.name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return "", nil // a new name
	}
	at := flagsOf(p.fd, p.name)
	switch {
	case above.appendOnly:
		return AppendOnly, nil
	case at.mounted:
		return MountPoint, nil
	case at.obstacle() != "":
		return at.obstacle(), nil
	case dir.Mode&unix.S_ISVTX != 0 && !own && int(st.Uid) != os.Geteuid() && os.Geteuid() != 0:
		return Forbidden, nil
	}
	return "", nil
}

// ObstacleToChmod looks at what stands in the way of changing the permission bits of
// what is at path, as ObstacleToRename does.
func (r *Root) ObstacleToChmod(path string) (Obstacle, error) {
	p, err := r.locate(path, true)
	if err != nil {
		return "", pathError("look at", path, err)
	}
	defer p.close()
	var st unix.Stat_t
	err = ignoringEINTR(func() error { return unix.Fstatat(p.fd, p.name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return "", pathError("stat", path, err)
	}
	if why := flagsOf(p.fd, p.name).obstacle(); why != "" {
		return why, nil
	}
	if isReadOnly(p.fd) {
		return ReadOnly, nil
	}
	if int(st.Uid) != os.Geteuid() && os.Geteuid() != 0 {
		return Forbidden, nil
	}
	return "", nil
}

// isReadOnly reports whether nothing can be changed on the mount of a directory.
func isReadOnly(fd int) bool {
	const readOnly = 1 // ST_RDONLY, MNT_RDONLY
	var st unix.Statfs_t
	err := ignoringEINTR(func() error { return unix.Fstatfs(fd, &st) })
	return err == nil && st.Flags&readOnly != 0
}
