package capture

import (
	"os"
	"syscall"
)

func newFileState(info os.FileInfo, at stamp) fileState {
	s := fileState{size: info.Size(), mtime: info.ModTime().UnixNano(), regular: info.Mode().IsRegular()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.device, s.inode, s.ctime = uint64(st.Dev), st.Ino, st.Ctimespec.Nano()
	}
	s.settled = at.trusts(&fingerprint{mtime: s.mtime, ctime: s.ctime})
	return s
}
