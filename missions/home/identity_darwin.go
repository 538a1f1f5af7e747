package home

import (
	"io/fs"
	"syscall"
)

// IdentityOf is a file's device and inode.
func IdentityOf(info fs.FileInfo) FileIdentity {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return FileIdentity{Device: uint64(s.Dev), Inode: s.Ino}
	}
	return FileIdentity{}
}

// ChangeTime is a file's ctime in nanoseconds.
func ChangeTime(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctimespec.Nano()
	}
	return 0
}
