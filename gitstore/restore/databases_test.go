package restore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/databases"
)

// page is the content of a database.
func page(fill string) string {
	return string(databases.Head()) + strings.Repeat(fill, 512-databases.HeadSize)
}

// TestDatabaseIsPlannedAsOne: no log of another moment stays or comes beside a database.
func TestDatabaseIsPlannedAsOne(t *testing.T) {
	t.Parallel()
	only := func(path string) func(*Request) { return func(r *Request) { r.Paths = []string{path} } }
	both := func(l *lab) { l.write("app.db", page("1")); l.write("app.db-wal", "1") }
	otherBoth := func(l *lab) { l.write("app.db", page("2")); l.write("app.db-wal", "2") }
	const none = "D app.db-journal, D app.db-shm, "
	for _, row := range []struct {
		name      string
		then, now func(l *lab)
		request   func(*Request)
		want      string
	}{
		{"both differ", both, otherBoth, nil, none + "R app.db, R app.db-wal"},
		{"the database is asked for", both, func(l *lab) { otherBoth(l); l.write("x", "2") }, only("app.db"), none + "R app.db, R app.db-wal"},
		{"its log is asked for", both, func(l *lab) { otherBoth(l); l.write("x", "2") }, only("app.db-wal"), none + "R app.db, R app.db-wal"},
		{"the log alone differs", both, func(l *lab) { l.write("app.db-wal", "2") }, only("app.db"), none + "R app.db, R app.db-wal"},
		{"no log is left", both, func(l *lab) { l.write("app.db", page("2")); l.remove("app.db-wal") }, nil, "C app.db-wal, " + none + "R app.db"},
		{"a log that is the same", both, func(l *lab) { l.write("app.db", page("2")) }, nil, none + "R app.db, R app.db-wal"},
		{"nothing but the database", func(l *lab) { l.write("app.db", page("1")) }, func(l *lab) { l.write("app.db", page("2")) }, nil, none + "D app.db-wal, R app.db"},
		{"shared memory is no difference", func(l *lab) { both(l); l.write("app.db-shm", "1") }, func(l *lab) { l.write("app.db-shm", "2") }, nil, ""},
		{"nor is an empty log", func(l *lab) { l.write("app.db", page("1")) }, func(l *lab) { l.write("app.db-wal", "") }, nil, ""},
		{"shared memory goes", func(l *lab) { both(l); l.write("app.db-shm", "1") }, otherBoth, nil, none + "R app.db, R app.db-wal"},
		{
			"what is no database is no more than was asked for",
			func(l *lab) { l.write("notes", "1"); l.write("notes-wal", "1") },
			func(l *lab) { l.write("notes", "2"); l.write("notes-wal", "2") }, only("notes"), "R notes",
		},
		{
			"logs that rules of then leave out",
			func(l *lab) { l.write(".gitignore", "*-wal\n"); l.write("app.db", page("1")) },
			func(l *lab) { l.write(".gitignore", ""); otherBoth(l) },
			nil, none + "D app.db-wal, R .gitignore, R app.db",
		},
		{
			"logs that rules leave out, as long as no snapshot has them",
			func(l *lab) { l.write(".umbraignore", "*-wal\n"); l.write("app.db", page("1")) },
			otherBoth, nil, "K app.db database, K app.db-wal ignored",
		},
		{
			"a database whose name ends as a log's does is a file like others",
			func(l *lab) { l.write("trade-journal", page("1")); l.write("trade-journal-wal", "1") },
			func(l *lab) { l.write("trade-journal", page("2")); l.write("trade-journal-wal", "2") },
			nil, "R trade-journal, R trade-journal-wal",
		},
		{
			"a file that is no shared memory, whatever its name", both,
			func(l *lab) {
				l.write(".gitignore", "*-shm\n")
				l.write("app.db", page("2"))
				l.write("app.db-shm", "four")
			},
			nil, "D .gitignore, K app.db database, K app.db-shm ignored",
		},
		{
			"there was no database",
			func(l *lab) { l.write("x", "1") },
			func(l *lab) { both(l) }, nil, "D app.db, " + none + "D app.db-wal",
		},
		{
			"one of the files is to be left", both, otherBoth,
			func(r *Request) { r.Leave = map[string]Reason{"app.db-wal": "foreign"} },
			"K app.db database, K app.db-wal foreign",
		},
		{
			"a database that rules leave out",
			func(l *lab) { l.write(".gitignore", "*.db\n"); both(l) },
			otherBoth, nil, "K app.db-wal database",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := newFastLab(t)
			row.then(l)
			then := l.capture()
			row.now(l)
			var change []func(*Request)
			if row.request != nil {
				change = append(change, row.request)
			}
			if got := lines(l.plan(l.capture(), then, change...)); got != row.want {
				t.Errorf("%s, not %s", got, row.want)
			}
		})
	}
}

// TestDatabaseIsTakenBackAsOne: where the database went on after a restore, all of it stays.
func TestDatabaseIsTakenBackAsOne(t *testing.T) {
	t.Parallel()
	const none = "D app.db-journal, D app.db-shm, "
	for _, c := range []struct {
		name  string
		after func(l *lab)
		want  string
	}{
		{"nothing was written", func(*lab) {}, "C app.db-wal, " + none + "R app.db"},
		{"it was looked at", func(l *lab) { l.write("app.db-shm", "3"); l.write("app.db-wal", "") }, "C app.db-wal, " + none + "R app.db"},
		{"a new log", func(l *lab) { l.write("app.db-wal", "3") }, "K app.db database, K app.db-wal changed"},
		{"a new journal", func(l *lab) { l.write("app.db-journal", "3") }, "K app.db database, K app.db-journal changed, K app.db-wal database"},
		{"the database is another", func(l *lab) { l.write("app.db", page("3")) }, "K app.db changed, K app.db-wal database"},
		{"it was put back by hand", func(l *lab) { l.write("app.db", page("2")); l.write("app.db-wal", "2") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newFastLab(t)
			l.write("app.db", page("1"))
			then := l.capture()
			l.write(".gitignore", "*-journal\n*-shm\n")
			l.write("app.db", page("2"))
			l.write("app.db-wal", "2")
			l.write("app.db-shm", "2")
			p := l.plan(l.capture(), then, func(r *Request) { r.Paths = []string{"app.db"} })
			l.apply(p, PrepareOptions{})
			c.after(l)
			u := l.inverse(p)
			if got := lines(u); got != c.want {
				t.Errorf("%s, not %s", got, c.want)
			}
			if strings.HasPrefix(c.want, "C") {
				l.apply(u, PrepareOptions{})
				l.wantDatabase("2", "2")
			}
		})
	}
}

func (l *lab) wantDatabase(database, log string) {
	l.t.Helper()
	want := map[string]string{}
	if database != "" {
		want["app.db"] = "file " + page(database)
	}
	if log != "" {
		want["app.db-wal"] = "file " + log
	}
	got := l.disk()
	maps.DeleteFunc(got, func(path, _ string) bool { return !strings.HasPrefix(path, "app.db") })
	l.same("the database", got, want)
}

// plights are databases of which the restore is cut off; ok tells whether what is on disk
// is one that SQLite may open.
var plights = map[string]struct {
	then, now func(l *lab)
	ok        []string
}{
	"both differ": {
		func(l *lab) { l.write("app.db", page("1")); l.write("app.db-wal", "1") },
		func(l *lab) { l.write("app.db", page("2")); l.write("app.db-wal", "2"); l.write("app.db-shm", "2") },
		[]string{"1 1", "2 2"},
	},
	"the log alone differs": {
		func(l *lab) { l.write("app.db", page("1")); l.write("app.db-wal", "1") },
		func(l *lab) { l.write("app.db-wal", "2") },
		[]string{"1 1", "1 2"},
	},
	"the database alone differs": {
		func(l *lab) { l.write("app.db", page("1")); l.write("app.db-wal", "1") },
		func(l *lab) { l.write("app.db", page("2")) },
		[]string{"1 1", "2 1"},
	},
	"a log is left": {
		func(l *lab) { l.write("app.db", page("1")) },
		func(l *lab) { l.write("app.db", page("2")); l.write("app.db-wal", "2") },
		[]string{"1 ", "2 2"},
	},
	"it is new": {
		func(*lab) {},
		func(l *lab) { l.write("app.db", page("2")); l.write("app.db-wal", "2") },
		[]string{"2 2"},
	},
	"it is gone, but for a log": {
		func(l *lab) { l.write("sub/app.db", "x"); l.write("app.db", page("1")); l.write("app.db-wal", "1") },
		func(l *lab) { l.remove("app.db", "sub"); l.write("app.db-wal", "2") },
		[]string{"1 1"},
	},
	"it becomes a directory": {
		func(l *lab) { l.write("app.db/x", "x") },
		func(l *lab) { l.remove("app.db"); l.write("app.db", page("2")); l.write("app.db-wal", "2") },
		[]string{"2 2"},
	},
	"it was a directory": {
		func(l *lab) { l.write("app.db", page("1")); l.write("app.db-wal", "1") },
		func(l *lab) { l.remove("app.db", "app.db-wal"); l.write("app.db/x", "x"); l.write("app.db-wal/x", "x") },
		[]string{"1 1"},
	},
}

// TestLogThatComesMeanwhile: a log that a program makes while the database is put back is
// set aside, and kept for its owner.
func TestLogThatComesMeanwhile(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"stage app.db", "aside app.db", "create app.db-wal"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			l := newFastLab(t)
			l.write("app.db", page("1"))
			l.write("app.db-wal", "1")
			then := l.capture()
			l.write("app.db", page("2"))
			l.remove("app.db-wal")
			o := l.begin(l.plan(l.capture(), then), PrepareOptions{})
			o.work.Workers = 1
			o.work.Step = func(name string) error {
				if name == step {
					l.write("app.db-wal", "3")
					l.write("app.db-journal", "3")
				}
				return nil
			}
			outcome, err := o.work.Apply(context.Background())
			l.must(err)
			var displaced []string
			for _, d := range outcome.Displaced {
				displaced = append(displaced, d.Path)
			}
			if want := []string{"app.db-journal", "app.db-wal"}; !slices.Equal(displaced, want) {
				t.Errorf("displaced %q", displaced)
			}
			l.wantDatabase("1", "1")
		})
	}
}

// TestDatabaseThatWentOn: a killed restore is taken back, and its database was opened
// meanwhile, or another one was made there. No log is put beside another database.
func TestDatabaseThatWentOn(t *testing.T) {
	t.Parallel()
	for _, logs := range [][2]string{{"", "3"}, {"1", "3"}, {"1", ""}} { // of then, and of whoever has opened it
		log, left := logs[0], logs[1]
		wentOn, madeAnew := 0, 0
		for at := 1; ; at++ {
			l := newFastLab(t)
			l.write("other", "1")
			l.write("app.db", page("1"))
			l.write("app.db-wal", log)
			then := l.capture()
			l.write("other", "2")
			l.write("app.db", page("2"))
			l.write("app.db-wal", "2")
			o := l.begin(l.plan(l.capture(), then), PrepareOptions{})
			o.work.Workers = 1
			steps := 0
			o.work.Step = func(string) error {
				if steps++; steps >= at {
					return errors.New("killed")
				}
				return nil
			}
			if _, err := o.work.Apply(context.Background()); err == nil {
				break
			}
			opened := []string{"2 2"}
			if is, _ := l.isSafe(nil); strings.HasPrefix(is, "1 ") {
				l.write("app.db-wal", left)
				l.write("app.db-shm", strings.Repeat("s", 32<<10))
				opened = []string{"1 " + left}
				wentOn++
			}
			last := l.resume(o.work.Entry.ID())
			last.work.Workers = 1
			recovery, _, err := last.work.Recover(context.Background(), func(context.Context) (bool, error) { return false, nil })
			l.must(err)
			if recovery == Interrupted {
				last.work.Step = func(name string) error {
					_, err := os.Stat(l.path("app.db-wal"))
					if is, _ := l.isSafe(nil); is == "none" && os.IsNotExist(err) && strings.Contains(name, "other") {
						l.write("app.db", page("4"))
						madeAnew++
						opened = []string{"4 "}
					}
					return nil
				}
				_, err = last.work.TakeBack()
				l.must(err)
			}
			if is, _ := l.isSafe(nil); !slices.Contains(opened, is) {
				t.Errorf("log %q, then %q, killed at step %d, %s: the database is %q, want %q", log, left, at, recovery, is, opened)
			}
		}
		if wentOn == 0 || madeAnew == 0 {
			t.Errorf("with the log %q it went on %d times, and was made anew %d times", log, wentOn, madeAnew)
		}
	}
}

// isSafe tells whether who opens the database now finds it whole, or none.
func (l *lab) isSafe(ok []string) (string, bool) {
	data, err := os.ReadFile(l.path("app.db"))
	if err != nil {
		return "none", true
	}
	log, _ := os.ReadFile(l.path("app.db-wal"))
	is := string(data[databases.HeadSize:][:1]) + " " + string(log)
	return is, slices.Contains(ok, is)
}

// TestDatabaseAtEachStep: at no step of a restore, of one that fails there and of its
// recovery after a kill there is a database with a log of another moment.
func TestDatabaseAtEachStep(t *testing.T) {
	t.Parallel()
	for name, c := range plights {
		for variant, options := range variants() {
			t.Run(name+", "+variant, func(t *testing.T) {
				t.Parallel()
				for at, more := 1, true; more && !t.Failed(); at++ {
					more = cutDatabaseOff(t, c.then, c.now, c.ok, options, at)
					failDatabase(t, c.then, c.now, c.ok, options, at)
				}
			})
		}
	}
}

// cutDatabaseOff lets a restore fail at a step, and the way back too: what the next
// process finds is as after a kill. It reports false if there are fewer steps.
func cutDatabaseOff(t *testing.T, then, now func(*lab), ok, options []string, at int) bool {
	l := newFastLab(t)
	l.write("other", "1")
	then(l)
	side := l.capture()
	target := l.exact()
	l.write("other", "2")
	now(l)
	p := l.plan(l.capture(), side)
	if len(options) == 1 {
		l.withoutExchange()
	}
	before := l.exact()
	o := l.begin(p, isBeside(options))
	o.work.Workers = 1
	watch := func(what string, at int, w *Work) (failed *string) {
		w.Workers = 1
		steps, failed := 0, new(string)
		w.Step = func(name string) error {
			if is, safe := l.isSafe(ok); !safe {
				t.Errorf("%s, step %d, before %q: the database is %q", what, at, name, is)
			}
			if steps++; at > 0 && steps >= at {
				*failed = name
				return errors.New("killed")
			}
			return nil
		}
		return failed
	}
	failed := watch("restore", at, o.work)
	_, err := o.work.Apply(context.Background())
	if *failed == "" {
		l.must(err)
		l.wantRestored("done", target, before)
		return false
	}
	if at > 2 {
		again := l.resume(o.work.Entry.ID())
		watch("recovery", at/2, again.work)
		_, _, _ = again.work.Recover(context.Background(), func(context.Context) (bool, error) { return true, nil })
	}
	last := l.resume(o.work.Entry.ID())
	watch("last recovery", 0, last.work)
	recovery, outcome, err := last.work.Recover(context.Background(), func(context.Context) (bool, error) { return true, nil })
	if err != nil || len(outcome.Left)+len(outcome.Displaced) > 0 {
		t.Fatalf("killed at %q: %v, left %v, displaced %v", *failed, err, outcome.Left, outcome.Displaced)
	}
	what := fmt.Sprintf("killed at step %d, %q: %s", at, *failed, recovery)
	switch recovery {
	case Forward:
		l.wantRestored(what, target, before)
	case Back:
		l.same(what, l.exact(), before)
	default:
		t.Error(what)
	}
	if !last.end().Empty {
		t.Errorf("%s: something is left in quarantine", what)
	}
	return true
}

// failDatabase lets a step of a restore fail, which is taken back then.
func failDatabase(t *testing.T, then, now func(*lab), ok, options []string, at int) {
	l := newFastLab(t)
	l.write("other", "1")
	then(l)
	side := l.capture()
	l.write("other", "2")
	now(l)
	p := l.plan(l.capture(), side)
	if len(options) == 1 {
		l.withoutExchange()
	}
	before := l.exact()
	o := l.begin(p, isBeside(options))
	o.work.Workers = 1
	steps, failed := 0, ""
	o.work.Step = func(name string) error {
		if is, safe := l.isSafe(ok); !safe {
			t.Errorf("step %d, before %q: the database is %q", at, name, is)
		}
		if steps++; steps == at {
			failed = name
			return errors.New("failed here")
		}
		return nil
	}
	if _, err := o.work.Apply(context.Background()); err == nil {
		return
	}
	l.same("failed at "+failed, l.exact(), before)
	if !o.end().Empty {
		t.Errorf("failed at %q: something is left in quarantine", failed)
	}
}

// wantRestored compares the workspace with the target's. Shared memory comes back with
// whoever opens the database.
func (l *lab) wantRestored(what string, target, before map[string]string) {
	l.t.Helper()
	now := l.exact()
	if _, was := before["app.db-shm"]; was {
		if _, is := now["app.db-shm"]; is {
			l.t.Errorf("%s: the shared memory stays", what)
		}
	}
	l.same(what, now, target)
}
