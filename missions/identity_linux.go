package missions

import (
	"io/fs"
	"syscall"
)

// identityOf is a file's device and inode.
func identityOf(info fs.FileInfo) Place {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return Place{Device: uint64(s.Dev), Inode: s.Ino}
	}
	return Place{}
}

// changeTime is a file's ctime in nanoseconds.
func changeTime(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano()
	}
	return 0
}
