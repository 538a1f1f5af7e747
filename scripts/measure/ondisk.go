package main

import (
	"io/fs"
	"syscall"
)

// onDisk is the space that a file takes, in bytes.
func onDisk(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Blocks * 512
	}
	return info.Size()
}
