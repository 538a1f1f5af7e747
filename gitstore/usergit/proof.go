package usergit

import "time"

// FileStat is what lstat says now of a file or symbolic link: the size in
// bytes, times in nanoseconds since the epoch.
type FileStat struct {
	Size, Mtime, Ctime int64
	Device, Inode      uint64
	Symlink            bool
}

// Proves tells whether stat data show that the file still has the content that
// the entry names, so that it need not be read. It believes no more than Git
// itself would, and wants nanoseconds and the ctime too, whatever core.checkStat
// and core.trustctime say. It is not so
//
//   - in a conflict, and for entries that say nothing of the file: those marked
//     assume-unchanged, skip-worktree or intent-to-add;
//   - where any of size, mtime, ctime, inode and kind differs, or Git noted no
//     nanoseconds. In an index from elsewhere, none agrees;
//   - for a file that was written or changed in the second in which the index
//     was written, or later: it may have been written again unseen (racy, see
//     Documentation/technical/racy-git);
//   - on another file system than the index, whose clock may be another;
//   - in a split index: older versions of Git left racy entries in the shared
//     part, whose own time says nothing.
//
// The content as Git has it: conversions of line ends and filters are the
// caller's business.
func (x *Index) Proves(e *Entry, st *FileStat) bool {
	if e.Stage != 0 || e.Flags != (Flags{}) || x.split || st.Device != x.device {
		return false
	}
	switch e.Mode {
	case ModeFile, ModeExecutable:
		if st.Symlink {
			return false
		}
	case ModeSymlink:
		if !st.Symlink {
			return false
		}
	default:
		return false
	}
	const second = int64(time.Second)
	if st.Size>>32 != 0 || uint32(st.Size) != e.Stat.Size || uint32(st.Inode) != e.Stat.Ino ||
		!sameTime(st.Mtime, e.Stat.MtimeSec, e.Stat.MtimeNsec) || !sameTime(st.Ctime, e.Stat.CtimeSec, e.Stat.CtimeNsec) ||
		e.Stat.CtimeNsec == 0 {
		return false
	}
	return max(st.Mtime, st.Ctime)/second < x.ModTime.Unix()
}

// sameTime compares with a time as an index notes it, seconds cut to 32 bits.
func sameTime(now int64, sec, nsec uint32) bool {
	t := time.Unix(0, now)
	return uint32(t.Unix()) == sec && uint32(t.Nanosecond()) == nsec
}
