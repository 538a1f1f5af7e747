//go:build unix

package beneath

import (
	"os"

	"golang.org/x/sys/unix"
)

// Kind is what a directory entry is.
type Kind uint8

// The kinds. Unknown is what a file system that does not tell answers in a
// listing; Lstat always knows.
const (
	Unknown Kind = iota
	File
	Directory
	Symlink
	Special // FIFO, socket, device
)

// String is the kind's name in messages.
func (k Kind) String() string {
	switch k {
	case File:
		return "file"
	case Directory:
		return "directory"
	case Symlink:
		return "symbolic link"
	case Special:
		return "special file"
	}
	return "unknown"
}

// Stat is what the kernel says about a file. Mode is st_mode with its type
// bits; times are nanoseconds since the epoch.
type Stat struct {
	Device uint64
	Inode  uint64
	Mode   uint32
	Links  uint64
	UID    uint32
	GID    uint32
	Size   int64
	Mtime  int64
	Ctime  int64
}

// Kind is the file's type.
func (s Stat) Kind() Kind {
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return File
	case unix.S_IFDIR:
		return Directory
	case unix.S_IFLNK:
		return Symlink
	}
	return Special
}

// Perm is the permission bits with set-id and sticky bits, 07777.
func (s Stat) Perm() uint32 { return s.Mode & 0o7777 }

// Executable reports what Git calls executable: the owner's exec bit.
func (s Stat) Executable() bool { return s.Mode&0o100 != 0 }

// Identity is the file's device and inode.
func (s Stat) Identity() Identity { return Identity{Device: s.Device, Inode: s.Inode} }

func statOf(st *unix.Stat_t) Stat {
	return Stat{
		Device: uint64(st.Dev),
		Inode:  st.Ino,
		Mode:   uint32(st.Mode),
		Links:  uint64(st.Nlink),
		UID:    st.Uid,
		GID:    st.Gid,
		Size:   st.Size,
		Mtime:  st.Mtim.Nano(),
		Ctime:  st.Ctim.Nano(),
	}
}

// StatFile describes an open file.
func StatFile(f *os.File) (Stat, error) {
	var st unix.Stat_t
	err := ignoringEINTR(func() error { return unix.Fstat(int(f.Fd()), &st) })
	if err != nil {
		return Stat{}, pathError("stat", f.Name(), err)
	}
	return statOf(&st), nil
}
