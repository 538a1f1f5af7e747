package capture

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestFilesOfDifferentMoments: each file is read whole, and one is written again while
// another is read.
func TestFilesOfDifferentMoments(t *testing.T) {
	t.Parallel()
	l := newLab(t, Settings{})
	l.write("a", "1")
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
	if r := l.walk(); r.Moved || l.files(r)["a"] != "another text" {
		t.Errorf("moved %t: %q", r.Moved, l.files(r))
	}
}

// TestDatabaseIsOneOrMarked: a SQLite database and its logs are of one moment, or the
// snapshot says that they are not.
func TestDatabaseIsOneOrMarked(t *testing.T) {
	t.Parallel()
	page := databaseHead + strings.Repeat("x", databasePage-len(databaseHead))
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
			prepare: func(l *lab) { l.write(".gitignore", "*-wal\n") }, marked: []string{"app.db"}, atRest: []string{"app.db"},
		},
		"an empty log is ignored": {
			prepare: func(l *lab) { l.write(".gitignore", "*-wal\n"); l.write("app.db-wal", "") },
		},
		"a write that stat data can't tell": {
			during: func(l *lab) { l.write("app.db", page) }, marked: []string{"app.db", "app.db-wal"},
		},
		"another file of that name": {
			prepare: func(l *lab) {
				l.write("app.db", strings.Repeat("y", databasePage))
				l.must(os.Remove(l.path("app.db-wal")))
			}, during: func(l *lab) { l.write("app.db-journal", "1") },
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
			if !slices.Equal(r.Changing, c.marked) {
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
