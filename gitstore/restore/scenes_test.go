package restore

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// at runs fn before the first step with a name.
func (o *operation) at(name string, fn func()) {
	done := false
	o.work.Workers = 1
	o.work.Step = func(step string) error {
		if step == name && !done {
			done = true
			fn()
		}
		return nil
	}
	o.l.t.Cleanup(func() {
		if !done {
			o.l.t.Errorf("no step %q", name)
		}
	})
}

func (o *operation) apply() *Outcome {
	o.l.t.Helper()
	outcome, err := o.work.Apply(context.Background())
	o.l.must(err)
	return outcome
}

// two makes a target and a source by two functions, and begins an operation.
func (l *lab) two(then, now func()) (*Plan, *operation) {
	l.t.Helper()
	then()
	to := l.capture()
	now()
	p := l.plan(l.capture(), to)
	return p, l.begin(p, PrepareOptions{})
}

func (l *lab) want(disk map[string]string) { l.t.Helper(); l.same("disk", l.disk(), disk) }

func TestMissingContentChangesNothing(t *testing.T) {
	for _, which := range []string{"target", "source"} {
		t.Run(which, func(t *testing.T) {
			l := newFastLab(t)
			p, o := l.two(
				func() { l.write("a", "target a"); l.write("b", "target b") },
				func() { l.write("a", "source a"); l.write("b", "source b"); l.write("c", "source c") })
			lost := p.Changes[1].To.Blob
			if which == "source" {
				lost = p.Changes[2].From.Blob
			}
			hex := lost.String()
			l.must(os.Remove(filepath.Join(l.store.Dir(), "objects", hex[:2], hex[2:])))
			other := filepath.Join(t.TempDir(), "b")
			l.must(os.WriteFile(other, []byte("source b"), 0o644))
			naive := exec.Command("sh", "-c", `git --git-dir "$0" cat-file blob "$1" >"$2.new" && mv "$2.new" "$2" || rm -f "$2" "$2.new"`, l.store.Dir(), hex, other)
			_ = naive.Run()
			_, gone := os.Stat(other)
			hazards.Shown(t, hazards.H3, errors.Is(gone, os.ErrNotExist), "who deletes what cannot be read of the snapshot deletes files when objects are lost")
			hazards.Held(t, hazards.H3, "a missing object is an error, before the first change")
			_, err := o.work.Apply(context.Background())
			var missing *MissingError
			if !errors.Is(err, gitstore.ErrMissing) && !errors.As(err, &missing) {
				t.Errorf("error is %v", err)
			}
			l.want(map[string]string{"a": "file source a", "b": "file source b", "c": "file source c"})
			o.end()
		})
	}
}

func TestDamagedContentChangesNothing(t *testing.T) {
	hazards.Held(t, hazards.H3, "a damaged object is an error, before the first change")
	l := newFastLab(t)
	p, o := l.two(func() { l.write("a", strings.Repeat("target", 1000)) }, func() { l.write("a", "source") })
	hex := p.Changes[0].To.Blob.String()
	loose := filepath.Join(l.store.Dir(), "objects", hex[:2], hex[2:])
	data, err := os.ReadFile(loose)
	l.must(err)
	l.must(os.Chmod(loose, 0o644))
	l.must(os.WriteFile(loose, data[:len(data)-5], 0o644))
	if _, err := o.work.Apply(context.Background()); err == nil {
		t.Error("a damaged object was restored")
	}
	l.want(map[string]string{"a": "file source"})
	o.end()
}

// TestOnlyDifferingPaths: others keep inode and times, and are not opened.
func TestOnlyDifferingPaths(t *testing.T) {
	hazards.Held(t, hazards.H12, "only what differs is opened, and that is never written in place")
	l := newFastLab(t)
	_, o := l.two(
		func() {
			l.write("d/same", "s")
			l.write("d/a", "1")
			l.write("mode", "m")
			l.must(os.Chmod(l.path("mode"), 0o755))
		},
		func() { l.write("d/a", "2"); l.must(os.Chmod(l.path("mode"), 0o644)) })
	stat := func(name string) (st unix.Stat_t) { l.must(unix.Lstat(l.path(name), &st)); return st }
	same, mode, a := stat("d/same"), stat("mode"), stat("d/a")
	o.apply()
	if now := stat("d/same"); now != same {
		t.Errorf("the equal file was touched: %+v, was %+v", now, same)
	}
	if now := stat("mode"); now.Ino != mode.Ino || now.Mtim != mode.Mtim || now.Mode&0o777 != 0o755 {
		t.Errorf("file with another exec bit is %+v, was %+v", now, mode)
	}
	if now := stat("d/a"); now.Ino == a.Ino {
		t.Error("the differing file was written in place")
	}
	o.end()
}

func TestAttributesAreKept(t *testing.T) {
	l := newFastLab(t)
	_, o := l.two(
		func() { l.write("a", "1"); l.write("b", "1"); l.must(os.Chmod(l.path("b"), 0o755)) },
		func() {
			l.write("a", "2")
			l.write("b", "2")
			l.must(os.Chmod(l.path("a"), 0o640))
			l.must(os.Chmod(l.path("b"), 0o640))
		})
	l.must(os.Chmod(l.path("a"), 0o604)) // after S: what is on disk counts
	l.must(unix.Setxattr(l.path("a"), "user.umbra", []byte("kept"), 0))
	l.must(os.Chown(l.path("a"), 1234, 5678))
	o.apply()
	var st unix.Stat_t
	l.must(unix.Lstat(l.path("a"), &st))
	value := make([]byte, 16)
	n, err := unix.Getxattr(l.path("a"), "user.umbra", value)
	if err != nil || string(value[:n]) != "kept" {
		t.Errorf("attribute is %q, %v", value[:max(n, 0)], err)
	}
	if st.Uid != 1234 || st.Gid != 5678 {
		t.Errorf("owner is %d:%d", st.Uid, st.Gid)
	}
	l.must(unix.Lstat(l.path("b"), &st))
	if st.Mode&0o777 != 0o755 {
		t.Errorf("b has mode %o, want the one recorded", st.Mode&0o777)
	}
	o.end()
}

func TestHardLinksComeApart(t *testing.T) {
	l := newFastLab(t)
	outside := filepath.Join(l.base, "outside")
	_, o := l.two(
		func() { l.write("a", "1") },
		func() {
			l.remove("a")
			l.must(os.WriteFile(outside, []byte("2"), 0o644))
			l.must(os.Link(outside, l.path("a")))
		})
	o.apply()
	data, err := os.ReadFile(outside)
	if err != nil || string(data) != "2" {
		t.Errorf("the file outside is %q, %v", data, err)
	}
	l.want(map[string]string{"a": "file 1"})
	o.end()
}

// TestConcurrentWriters has each kind of writer at its moment.
func TestConcurrentWriters(t *testing.T) {
	type scene struct {
		name, step string
		act        func(l *lab)
		left       string
		displaced  string
		disk       map[string]string
	}
	const target = "file target"
	for _, s := range []scene{
		{"saved before the exchange", "exchange a", func(l *lab) { l.write("a", "late") }, "", "a late",
			map[string]string{"a": target, "n": "file new"}},
		{"saved after it", "exchanged a", func(l *lab) { l.write("a", "late") }, "", "",
			map[string]string{"a": "file late", "n": "file new"}},
		{"removed before it", "exchange a", func(l *lab) { l.remove("a") }, "", "",
			map[string]string{"a": target, "n": "file new"}},
		{"made a link", "exchange a", func(l *lab) { l.remove("a"); l.link("elsewhere", "a") }, "", "a elsewhere",
			map[string]string{"a": target, "n": "file new"}},
		{"made a directory", "exchange a", func(l *lab) { l.remove("a"); l.write("a/in", "x") }, "a directory", "",
			map[string]string{"a": "dir", "a/in": "file x", "n": "file new"}},
		{"made a FIFO", "exchange a", func(l *lab) { l.remove("a"); l.must(syscall.Mkfifo(l.path("a"), 0o600)) }, "a directory", "",
			map[string]string{"a": "special", "n": "file new"}},
		{"created first", "create n", func(l *lab) { l.write("n", "theirs") }, "n appeared", "",
			map[string]string{"a": target, "n": "file theirs"}},
		{"saved before the deletion", "delete old", func(l *lab) { l.write("old", "late") }, "", "old late",
			map[string]string{"a": target, "n": "file new"}},
		{"a directory in place of what is deleted", "delete old", func(l *lab) { l.remove("old"); l.write("old/in", "x") }, "old directory", "",
			map[string]string{"a": target, "n": "file new", "old": "dir", "old/in": "file x"}},
	} {
		t.Run(s.name, func(t *testing.T) {
			l := newFastLab(t)
			_, o := l.two(
				func() { l.write("a", "target"); l.write("n", "new") },
				func() { l.write("a", "source"); l.remove("n"); l.write("old", "old") })
			o.at(s.step, func() { s.act(l) })
			outcome := o.apply()
			var left, displaced []string
			for _, x := range outcome.Left {
				left = append(left, x.Path+" "+string(x.Reason))
			}
			for i := range outcome.Displaced {
				displaced = append(displaced, outcome.Displaced[i].Path+" "+read(t, &outcome.Displaced[i]))
			}
			if got := strings.Join(left, ", "); got != s.left {
				t.Errorf("left %q, want %q", got, s.left)
			}
			if got := strings.Join(displaced, ", "); got != s.displaced {
				t.Errorf("displaced %q, want %q", got, s.displaced)
			}
			l.want(s.disk)
			if settled := o.end(); settled.Empty == (s.displaced != "") {
				t.Errorf("settled: %+v", settled)
			}
			if _, err := o.work.Settle(func(Displaced) (bool, error) { return true, nil }); err != nil {
				t.Error(err)
			}
		})
	}
}

func read(t *testing.T, d *Displaced) string {
	t.Helper()
	r, size, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data := make([]byte, size+1)
	n, _ := r.Read(data)
	return string(data[:n])
}

// TestParentBecomesALink: nothing outside is touched, and it is said (H11).
func TestParentBecomesALink(t *testing.T) {
	for _, step := range []string{"exchange d/a", "create d/n", "delete d/old"} {
		t.Run(step, func(t *testing.T) {
			l := newFastLab(t)
			outside := filepath.Join(l.base, "outside")
			l.must(os.Mkdir(outside, 0o755))
			for _, name := range []string{"a", "old"} {
				l.must(os.WriteFile(filepath.Join(outside, name), []byte("outside"), 0o644))
			}
			_, o := l.two(
				func() { l.write("d/a", "target"); l.write("d/n", "new"); l.write("z", "1") },
				func() { l.write("d/a", "source"); l.write("d/old", "old"); l.remove("d/n"); l.write("z", "2") })
			o.at(step, func() {
				l.must(os.Rename(l.path("d"), filepath.Join(l.base, "aside")))
				l.link(outside, "d")
			})
			outcome := o.apply()
			var left []string
			for _, x := range outcome.Left {
				left = append(left, x.Path)
			}
			if !strings.Contains(strings.Join(left, " "), step[strings.IndexByte(step, ' ')+1:]) {
				t.Errorf("left %v", outcome.Left)
			}
			for name, want := range map[string]string{"a": "outside", "old": "outside", "n": ""} {
				data, _ := os.ReadFile(filepath.Join(outside, name))
				if string(data) != want {
					t.Errorf("%s outside is %q, want %q", name, data, want)
				}
			}
			if l.disk()["z"] != "file 1" {
				t.Error("the other path was not restored")
			}
			o.end()
		})
	}
}

// TestSomethingComesIntoAClearedDirectory: all of the directory stays.
func TestSomethingComesIntoAClearedDirectory(t *testing.T) {
	l := newFastLab(t)
	_, o := l.two(func() { l.write("d", "file"); l.write("z", "1") }, func() { l.remove("d"); l.write("d/a", "1"); l.write("d/e/b", "2"); l.write("z", "2") })
	o.at("rmdir d/e", func() { l.write("d/e/theirs", "x") })
	outcome := o.apply()
	if len(outcome.Left) != 3 {
		t.Errorf("left %v", outcome.Left)
	}
	l.want(map[string]string{"d": "dir", "d/a": "file 1", "d/e": "dir", "d/e/b": "file 2", "d/e/theirs": "file x", "z": "file 1"})
	o.end()
}

func TestMovedWorkspace(t *testing.T) {
	l := newFastLab(t)
	_, o := l.two(func() { l.write("a", "1"); l.write("b", "1") }, func() { l.write("a", "2"); l.write("b", "2") })
	elsewhere := filepath.Join(l.base, "elsewhere")
	o.at("exchanged a", func() {
		l.must(os.Rename(l.root, elsewhere))
		l.must(os.Mkdir(l.root, 0o755))
	})
	_, err := o.work.Apply(context.Background())
	if !errors.Is(err, beneath.ErrMoved) {
		t.Fatalf("error is %v", err)
	}
	if len(l.disk()) > 0 {
		t.Errorf("written to the wrong directory: %v", l.disk())
	}
	l.must(os.Remove(l.root))
	l.must(os.Rename(elsewhere, l.root))
	after := l.resume(o.work.Entry.ID())
	recovery, _, err := after.work.Recover(context.Background(), func(context.Context) (bool, error) { return true, nil })
	l.must(err)
	if recovery != Forward {
		t.Errorf("recovery is %s", recovery)
	}
	l.want(map[string]string{"a": "file 1", "b": "file 1"})
	after.end()
}

// TestInterrupted: people have gone on working after a kill. Nothing is
// touched until they say which way.
func TestInterrupted(t *testing.T) {
	for _, way := range []string{"forward", "back"} {
		t.Run(way, func(t *testing.T) {
			l := newFastLab(t)
			_, o := l.two(
				func() { l.write("a", "1"); l.write("b", "1"); l.write("c", "1"); l.write("d", "1") },
				func() { l.write("a", "2"); l.write("b", "2"); l.write("c", "2"); l.write("d", "2") })
			killed := errors.New("killed")
			// As if killed: neither forward nor back is possible.
			o.work.Workers = 1
			var at string
			o.work.Step = func(step string) error {
				at = step
				if step == "exchange c" || strings.HasPrefix(step, "withdraw") || step == "judge" {
					return killed
				}
				return nil
			}
			if _, err := o.work.Apply(context.Background()); !errors.Is(err, killed) {
				t.Fatalf("at %s: %v", at, err)
			}
			l.write("b", "people's")
			l.write("d", "people's")
			before := l.disk()
			o = l.resume(o.work.Entry.ID())
			for range 2 {
				recovery, _, err := o.work.Recover(context.Background(), func(context.Context) (bool, error) { return true, nil })
				l.must(err)
				if recovery != Interrupted {
					t.Fatalf("recovery is %s", recovery)
				}
				l.want(before)
				o = l.resume(o.work.Entry.ID())
			}
			var outcome *Outcome
			var err error
			want := map[string]string{"a": "file 2", "b": "file people's", "c": "file 2", "d": "file people's"}
			if way == "forward" {
				outcome, err = o.work.FinishForward(context.Background())
				want["a"], want["c"] = "file 1", "file 1"
			} else {
				outcome, err = o.work.TakeBack()
			}
			l.must(err)
			if len(outcome.Left) != 2 {
				t.Errorf("left %v", outcome.Left)
			}
			l.want(want)
			if !o.end().Empty {
				t.Error("not settled")
			}
		})
	}
}

// TestFinishLeavesTheirMode: a file of which only the exec bit was to change is
// left alone if people have written it anew.
func TestFinishLeavesTheirMode(t *testing.T) {
	l := newFastLab(t)
	_, o := l.two(
		func() { l.write("a", "1"); l.write("run", "1"); l.must(os.Chmod(l.path("run"), 0o755)) },
		func() { l.write("a", "2"); l.must(os.Chmod(l.path("run"), 0o644)) })
	l.must(o.work.Stage(context.Background()))
	l.must(o.work.Entry.Advance(journal.Staged, journal.Applying))
	l.write("run", "people's")
	o = l.resume(o.work.Entry.ID())
	outcome, err := o.work.FinishForward(context.Background())
	l.must(err)
	if len(outcome.Left) != 1 || outcome.Left[0].Path != "run" || outcome.Left[0].Reason != ReasonChanged {
		t.Errorf("left %v", outcome.Left)
	}
	l.want(map[string]string{"a": "file 1", "run": "file people's"})
	o.end()
}

// TestStrangersInterrupt: another path than the planned ones was changed.
func TestStrangersInterrupt(t *testing.T) {
	l := newFastLab(t)
	_, o := l.two(func() { l.write("a", "1"); l.write("x", "x") }, func() { l.write("a", "2") })
	killed := errors.New("killed")
	o.work.Step = func(step string) error {
		if step == "exchanged a" || strings.HasPrefix(step, "withdraw") || step == "judge" {
			return killed
		}
		return nil
	}
	if _, err := o.work.Apply(context.Background()); !errors.Is(err, killed) {
		t.Fatal(err)
	}
	l.write("x", "y")
	o = l.resume(o.work.Entry.ID())
	recovery, _, err := o.work.Recover(context.Background(), func(context.Context) (bool, error) {
		strangers, err := o.work.Document.Strangers(l.store, l.ws, l.capture().Tree)
		return len(strangers) == 0, err
	})
	if err != nil || recovery != Interrupted {
		t.Errorf("recovery is %s, %v", recovery, err)
	}
	if phase, _ := o.work.Entry.Phase(); phase != journal.Interrupted {
		t.Errorf("phase is %s", phase)
	}
}

// TestLateWrite: through a handle that was opened before the restore.
func TestLateWrite(t *testing.T) {
	l := newFastLab(t)
	_, o := l.two(func() { l.write("a", "1") }, func() { l.write("a", "2") })
	file, err := os.OpenFile(l.path("a"), os.O_WRONLY|os.O_APPEND, 0)
	l.must(err)
	if outcome := o.apply(); len(outcome.Displaced) > 0 {
		t.Errorf("displaced %v", outcome.Displaced)
	}
	settled := o.end()
	if settled.Empty || len(settled.Busy) != 1 {
		t.Errorf("settled while it is open: %+v", settled)
	}
	_, err = file.WriteString(" late")
	l.must(err)
	l.must(file.Close())
	settled, err = o.work.Settle(nil)
	l.must(err)
	if settled.Empty || len(settled.Displaced) != 1 || read(t, &settled.Displaced[0]) != "2 late" {
		t.Fatalf("settled: %+v", settled)
	}
	settled, err = o.work.Settle(func(d Displaced) (bool, error) { return d.Blob == l.blobID("2 late"), nil })
	l.must(err)
	if !settled.Empty {
		t.Errorf("settled: %+v", settled)
	}
	l.want(map[string]string{"a": "file 1"})
}

func TestCanceled(t *testing.T) {
	l := newFastLab(t)
	_, o := l.two(func() { l.write("a", "1"); l.write("b", "1"); l.write("c", "1") }, func() { l.write("a", "2"); l.write("b", "2"); l.write("c", "2") })
	ctx, cancel := context.WithCancelCause(context.Background())
	o.at("exchanged b", func() { cancel(context.DeadlineExceeded) })
	_, err := o.work.Apply(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	l.want(map[string]string{"a": "file 2", "b": "file 2", "c": "file 2"})
	o.end()
}
