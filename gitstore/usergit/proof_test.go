package usergit

import (
	"testing"
	"time"
)

// TestProves changes one thing after the other of an entry that proves a file.
func TestProves(t *testing.T) {
	t.Parallel()
	const second = int64(time.Second)
	type scene struct {
		x  Index
		e  Entry
		st FileStat
	}
	whole := func() scene {
		return scene{
			Index{ModTime: time.Unix(1002, 0), device: 7},
			Entry{Path: "a", Mode: ModeFile, Stat: Stat{
				CtimeSec: 1001, CtimeNsec: 5, MtimeSec: 1000, MtimeNsec: 4, Dev: 9, Ino: 6, Size: 3,
			}},
			FileStat{Size: 3, Mtime: 1000*second + 4, Ctime: 1001*second + 5, Device: 7, Inode: 6},
		}
	}
	if s := whole(); !s.x.Proves(&s.e, &s.st) {
		t.Fatal("nothing is proved")
	}
	for name, change := range map[string]func(*scene){
		"stage":             func(s *scene) { s.e.Stage = 1 },
		"assume-unchanged":  func(s *scene) { s.e.Flags.AssumeValid = true },
		"skip-worktree":     func(s *scene) { s.e.Flags.SkipWorktree = true },
		"intent-to-add":     func(s *scene) { s.e.Flags.IntentToAdd = true },
		"gitlink":           func(s *scene) { s.e.Mode = ModeGitlink },
		"sparse directory":  func(s *scene) { s.e.Mode = ModeDir },
		"link for a file":   func(s *scene) { s.st.Symlink = true },
		"file for a link":   func(s *scene) { s.e.Mode = ModeSymlink },
		"size":              func(s *scene) { s.st.Size++ },
		"smudged":           func(s *scene) { s.e.Stat.Size = 0 },
		"size in 32 bits":   func(s *scene) { s.st.Size += 1 << 32 },
		"mtime":             func(s *scene) { s.st.Mtime += second },
		"mtime nanoseconds": func(s *scene) { s.st.Mtime++ },
		"ctime":             func(s *scene) { s.st.Ctime -= second },
		"ctime nanoseconds": func(s *scene) { s.st.Ctime-- },
		"inode":             func(s *scene) { s.st.Inode++ },
		"device":            func(s *scene) { s.st.Device = 8 },
		"no nanoseconds":    func(s *scene) { s.e.Stat.CtimeNsec, s.st.Ctime = 0, 1001*second },
		"split":             func(s *scene) { s.x.split = true },
		"racy":              func(s *scene) { s.x.ModTime = time.Unix(1000, 999_999_999) },
		"racy by ctime":     func(s *scene) { s.x.ModTime = time.Unix(1001, 999_999_999) },
		"no index file":     func(s *scene) { s.x.ModTime = time.Time{} },
	} {
		s := whole()
		if change(&s); s.x.Proves(&s.e, &s.st) {
			t.Errorf("%s: proved", name)
		}
	}
	for name, change := range map[string]func(*scene){
		"executable":    func(s *scene) { s.e.Mode = ModeExecutable },
		"symbolic link": func(s *scene) { s.e.Mode, s.st.Symlink = ModeSymlink, true },
		"inode cut":     func(s *scene) { s.st.Inode += 1 << 32 },
		"whole mtime":   func(s *scene) { s.e.Stat.MtimeNsec, s.st.Mtime = 0, 1000*second },
		"before 1970":   func(s *scene) { s.e.Stat.MtimeSec, s.st.Mtime = 0xfffffff6, -10*second+4 },
		"the next tick": func(s *scene) { s.x.ModTime = time.Unix(1002, 1) },
		"much later":    func(s *scene) { s.x.ModTime = time.Unix(5000, 0) },
	} {
		s := whole()
		if change(&s); !s.x.Proves(&s.e, &s.st) {
			t.Errorf("%s: not proved", name)
		}
	}
}
