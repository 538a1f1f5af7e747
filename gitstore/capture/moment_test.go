package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/databases"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/scripts/hazards"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// TestFilesOfDifferentMoments: each file is read whole, and one is written again while
// another is read.
func TestFilesOfDifferentMoments(t *testing.T) {
	t.Parallel()
	l := newLab(t, Settings{})
	l.write("a", "1")
	l.write("z", "1")
	naive := hazards.NewNaive(t, l.root)
	naive.Git("config", "filter.write.clean", "cat; printf 2 >a; printf 2 >z") // while it is read
	l.must(os.WriteFile(filepath.Join(naive.Dir, "info/attributes"), []byte("a filter=write\n"), 0o644))
	id := naive.Save()
	hazards.Shown(t, hazards.H49, naive.Git("cat-file", "-p", id+":a")+naive.Git("cat-file", "-p", id+":z") == "12", "`git add` reads two files, each whole, of moments between which both were written")
	l.write("z", "1")
	l.scanner.workspace.Workers = 1
	l.scanner.hooks.afterRead = func(path string) {
		if path == "z" {
			l.write("a", "another text")
		}
	}
	if r := l.walk(); !r.Moved || len(r.Changing) > 0 {
		t.Errorf("moved %t, changing %q", r.Moved, r.Changing)
	}
	l.scanner.hooks.afterRead = nil
	l.tick("a")
	if r := l.walk(); r.Moved || l.files(r)["a"] != "another text" {
		t.Errorf("moved %t: %q", r.Moved, l.files(r))
	}
	hazards.Held(t, hazards.H49, "a snapshot while which something was written is seen, read again, and marked where it goes on")
}

// TestReadAndTakenOver: a file that is taken over unread and another one are written
// while a third is read. The second is read afterwards, and does not change any more.
func TestReadAndTakenOver(t *testing.T) {
	t.Parallel()
	for how, dirty := range map[string]Dirty{"a walk": {All: true}, "a watcher": {Paths: []string{"large", "z"}}} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, Settings{})
			l.write("a", "1")
			l.write("z", "1")
			l.settle()
			l.write("large", strings.Repeat("x", wholeSize+1))
			l.write("z", "2")
			l.tick("z")
			l.scanner.workspace.Workers = 1
			l.scanner.hooks.beforeRead = func(path string) {
				if path == "large" {
					l.write("a", "another text")
					l.write("z", "another text")
				}
			}
			r := l.capture(dirty, Options{})
			if got := l.files(r); got["a"] != "1" || got["z"] != "another text" || !r.Moved {
				t.Errorf("a %q, z %q, moved %t", got["a"], got["z"], r.Moved)
			}
			l.scanner.hooks.beforeRead = nil
			l.tick("z")
			if r := l.walk(); l.files(r)["a"] != "another text" || r.Moved {
				t.Errorf("a %q, moved %t", l.files(r)["a"], r.Moved)
			}
		})
	}
}

// TestWrittenBeforeTheHook: what an agent writes before it calls the hook is of the moment
// of the hook from the next tick on, whatever time the file says that it was written at.
func TestWrittenBeforeTheHook(t *testing.T) {
	t.Parallel()
	l := newLab(t, Settings{})
	l.write("a", "1")
	l.settle()
	l.write("a", "2")
	l.write("unpacked", "1")
	later := time.Now().Add(time.Hour)
	l.must(os.Chtimes(l.path("unpacked"), later, later))
	l.tick("unpacked")
	if r := l.walk(); r.Moved || r.Stats.ReadFiles != 2 {
		t.Errorf("moved %t, read %d", r.Moved, r.Stats.ReadFiles)
	}
}

// tick waits until the clock that stamps files is past the last change of a file.
func (l *lab) tick(name string) {
	l.t.Helper()
	st, err := os.Lstat(l.path(name))
	l.must(err)
	changed := newFileState(st, stamp{}).ctime
	for deadline := time.Now().Add(patience.Of(time.Minute)); disk.Now() <= changed; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			l.t.Fatal("the clock stands still")
		}
	}
}

// holdsDatabase tells whether a snapshot has each file of the database as it is on disk,
// which writes no more.
func (l *lab) holdsDatabase(r *Result) bool {
	l.t.Helper()
	files := l.files(r)
	for _, part := range []string{"", databases.Log, databases.Journal} {
		data, err := os.ReadFile(l.path("app.db" + part))
		if captured, held := files["app.db"+part]; held != (err == nil) || captured != string(data) {
			return false
		}
	}
	return true
}

// TestDatabaseIsOneOrMarked: a SQLite database and its logs are of one moment, or the
// snapshot says that they are not.
func TestDatabaseIsOneOrMarked(t *testing.T) {
	t.Parallel()
	page := string(databases.Head()) + strings.Repeat("x", 512-databases.HeadSize)
	for name, c := range map[string]struct {
		prepare, during func(l *lab)
		marked, atRest  []string
	}{
		"quiet": {},
		"the log grows after the database was read": {
			during: func(l *lab) { l.write("app.db-wal", "more of the log") }, marked: []string{"app.db", "app.db-wal"},
		},
		"a journal comes": {
			during: func(l *lab) { l.write("app.db-journal", "begun") }, marked: []string{"app.db", "app.db-wal"},
		},
		"the log is ignored": {
			prepare: func(l *lab) { l.write(".umbraignore", "*-wal\n") }, marked: []string{"app.db"}, atRest: []string{"app.db"},
		},
		"the log is ignored by Git": {
			prepare: func(l *lab) { l.write(".gitignore", "*-wal\n*-shm\n") },
		},
		"a journal of several databases": {
			prepare: func(l *lab) {
				l.write("app.db-journal", "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7/b.db-mj1\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
			},
			marked: []string{"app.db", "app.db-journal", "app.db-wal"}, atRest: []string{"app.db", "app.db-journal", "app.db-wal"},
		},
		"the log goes while it is to be read": {
			during: func(l *lab) {
				l.must(os.Remove(l.path("app.db-wal")))
				l.write("app.db", strings.Replace(page, "x", "y", 1))
			}, marked: []string{"app.db"},
		},
		"an empty log is ignored": {
			prepare: func(l *lab) { l.write(".gitignore", "*-wal\n"); l.write("app.db-wal", "") },
		},
		"a write that stat data can't tell": {
			during: func(l *lab) { l.write("app.db", page) }, marked: []string{"app.db", "app.db-wal"},
		},
		"another file of that name": {
			prepare: func(l *lab) {
				l.write("app.db", strings.Repeat("y", 512))
				l.must(os.Remove(l.path("app.db-wal")))
			}, during: func(l *lab) { l.write("app.db-journal", "1") },
		},
		"a text, and another file whose name is longer": {
			prepare: func(l *lab) { l.write("app.db", "notes") },
			during:  func(l *lab) { l.write("app.db-wal", "another text") },
		},
		"a directory, and a file whose name is longer": {
			prepare: func(l *lab) { l.must(os.Remove(l.path("app.db"))); l.write("app.db/notes", "notes") },
			during:  func(l *lab) { l.write("app.db-wal", "another text") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, Settings{})
			for _, name := range []string{"a1", "a2", "a3", "a4"} {
				l.write(name, name)
			}
			l.write("app.db", page)
			l.write("app.db-wal", "log")
			if c.prepare != nil {
				c.prepare(l)
			}
			l.settle()
			l.scanner = l.newScanner()
			did := false
			l.scanner.hooks.afterRead = func(path string) {
				if path == "app.db" && c.during != nil && !did {
					did = true
					c.during(l)
				}
			}
			r := l.walk()
			// A slow walk may read a part so long after the write that stat data prove it whole.
			if !slices.Equal(r.Changing, c.marked) && (len(r.Changing) > 0 || !l.holdsDatabase(r)) {
				t.Errorf("changing %q, not %q", r.Changing, c.marked)
			}
			l.scanner.hooks.afterRead = nil
			for range 2 {
				l.settle()
				// The database is not among the files that this reads again.
				if r := l.capture(Dirty{All: true}, Options{Recheck: 2}); !slices.Equal(r.Changing, c.atRest) {
					t.Errorf("at rest, changing %q, not %q", r.Changing, c.atRest)
				}
			}
		})
	}
}

// TestLogOfDatabase: a log that Git ignores is captured with its database, whatever comes
// first, and its shared memory is not. Where a watcher tells of a log alone that is gone,
// the database is read again.
func TestLogOfDatabase(t *testing.T) {
	t.Parallel()
	l := newLab(t, Settings{})
	page := string(databases.Head()) + strings.Repeat("x", 512-databases.HeadSize)
	l.write(".gitignore", "*-wal\n*-shm\n")
	l.write("app.db", page)
	l.write("notes-wal", "no log")
	for n := range 40 {
		l.write(fmt.Sprint("other", n), "one file of many: few are gone")
	}
	l.settle()
	l.write("app.db-wal", "log")
	l.write("app.db-shm", "index")
	for how, dirty := range map[string]Dirty{"a watcher": {Paths: []string{"app.db-wal", "app.db-shm"}}, "a walk": {All: true}} {
		r := l.capture(dirty, Options{})
		files := l.files(r)
		if _, index := files["app.db-shm"]; files["app.db-wal"] != "log" || index {
			t.Errorf("%s: %q", how, files)
		}
		if _, other := files["notes-wal"]; other {
			t.Errorf("%s: what lies beside no database is captured", how)
		}
	}
	l.settle()
	l.write("app.db", strings.Replace(page, "x", "y", 1))
	l.must(os.Remove(l.path("app.db-wal")))
	if files := l.files(l.capture(Dirty{Paths: []string{"app.db-wal"}}, Options{})); !strings.Contains(files["app.db"], "y") {
		t.Errorf("the database is of another moment than its missing log: %.30q", files["app.db"])
	}
}
