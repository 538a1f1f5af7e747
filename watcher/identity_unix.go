//go:build unix

package watcher

import (
	"os"
	"syscall"
)

// identity tells one directory from another while both exist.
type identity struct{ dev, ino uint64 }

func identify(info os.FileInfo) identity {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return identity{uint64(st.Dev), uint64(st.Ino)}
	}
	return identity{}
}
