package restore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// mounted mounts a file system in memory, or reports that this is not allowed.
func mounted(t *testing.T, dir, options string) bool {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("none", dir, "tmpfs", 0, options); err != nil {
		t.Logf("MOUNTING IS NOT PERMITTED (%v): the error is injected instead", err)
		return false
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return true
}

// TestFullDiskWhileStaging: nothing is changed and the error says why.
func TestFullDiskWhileStaging(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "tiny")
	real := mounted(t, root, "size=256k")
	l := newLabAt(t, base, root)
	l.write("a", "target")
	l.write("big", strings.Repeat("x", 150_000))
	to := l.capture()
	l.write("a", "source")
	l.write("big", strings.Repeat("y", 150_000))
	p := l.plan(l.capture(), to)
	o := l.begin(p, PrepareOptions{})
	if real != (len(o.work.Document.Beside) == 2) {
		t.Errorf("beside: %v", o.work.Document.Beside)
	}
	if !real {
		o.work.Step = func(step string) error {
			if step == "stage big" {
				return unix.ENOSPC
			}
			return nil
		}
	}
	if _, err := o.work.Apply(context.Background()); !errors.Is(err, unix.ENOSPC) || !strings.HasPrefix(err.Error(), "stage ") {
		t.Errorf("error is %v", err)
	}
	l.want(map[string]string{"a": "file source", "big": "file " + strings.Repeat("y", 150_000)})
	o.end()
}

// TestFullDiskInTheMiddle: a directory that cannot be made sends all back.
func TestFullDiskInTheMiddle(t *testing.T) {
	hazards.Held(t, hazards.H13, "on a disk that is full in the middle all is taken back, and nothing was deleted")
	base := t.TempDir()
	root := filepath.Join(base, "tiny")
	real := mounted(t, root, "size=1m,nr_inodes=24")
	l := newLabAt(t, base, root)
	l.write("a", "target")
	for n := range 8 {
		l.write(fmt.Sprintf("new%d/f", n), "n")
	}
	to := l.capture()
	for n := range 8 {
		l.remove(fmt.Sprintf("new%d", n))
	}
	l.write("a", "source")
	for n := range 10 {
		l.write(fmt.Sprintf("old%d", n), "o")
	}
	p := l.plan(l.capture(), to)
	before := l.disk()
	o := l.begin(p, PrepareOptions{})
	if !real {
		o.work.Step = func(step string) error {
			if step == "mkdir new5" {
				return unix.ENOSPC
			}
			return nil
		}
	}
	if _, err := o.work.Apply(context.Background()); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("error is %v", err)
	}
	l.want(before)
	o.end()
}

// TestMountsInTheWorkspace: another file system, and the same one bound a
// second time, where a rename from the journal fails too.
func TestMountsInTheWorkspace(t *testing.T) {
	l := newLab(t)
	var want []string
	if mounted(t, l.path("disk"), "size=1m") {
		want = append(want, "disk", "disk/d")
	}
	source := filepath.Join(l.base, "bound")
	l.must(os.MkdirAll(source, 0o755))
	l.must(os.MkdirAll(l.path("bind"), 0o755))
	if err := unix.Mount(source, l.path("bind"), "", unix.MS_BIND, ""); err == nil {
		t.Cleanup(func() { l.must(unix.Unmount(l.path("bind"), unix.MNT_DETACH)) })
		want = append(want, "bind")
	} else {
		t.Logf("BINDING IS NOT PERMITTED (%v)", err)
	}
	p, o := l.two(
		func() {
			l.write("disk/a", "1")
			l.write("disk/d/b", "1")
			l.write("bind/a", "1")
			l.write("bind/gone/g", "1")
			l.write("a", "1")
		},
		func() {
			l.write("disk/a", "2")
			l.write("disk/d/b", "2")
			l.write("disk/new/x", "2")
			l.write("bind/a", "2")
			l.write("bind/new/deep/x", "2")
			l.remove("bind/gone")
			l.write("a", "2")
		})
	got := map[string]bool{}
	for _, dir := range o.work.Document.Beside {
		got[dir] = true
	}
	for _, dir := range want {
		if !got[dir] {
			t.Errorf("nothing is staged in %s: %v", dir, o.work.Document.Beside)
		}
	}
	if len(got) != len(want) {
		t.Errorf("staged in %v, want %v", got, want)
	}
	after := l.planned(l.disk(), p)
	o.apply()
	o.end()
	l.want(after)
	l.apply(l.inverse(p), PrepareOptions{})
}

// TestStagedBesideIsNotCaptured while the operation is under way.
func TestStagedBesideIsNotCaptured(t *testing.T) {
	l := newFastLab(t)
	l.write("a", "1")
	to := l.capture()
	l.write("a", "2")
	from := l.capture()
	o := l.begin(l.plan(from, to), PrepareOptions{Beside: true})
	l.must(o.work.Stage(context.Background()))
	if got := l.capture(); got.Tree != from.Tree || len(got.Skipped.All()) > 0 {
		t.Errorf("captured: %s", got.Tree)
	}
	recovery, _, err := l.resume(o.work.Entry.ID()).work.Recover(context.Background(), nil)
	if err != nil || recovery != Back {
		t.Errorf("recovery is %s, %v", recovery, err)
	}
	o.end()
	l.want(map[string]string{"a": "file 2"})
}

// TestCrossDeviceOnlyTold by the rename itself: all is taken back, and a second
// try stages in the workspace.
func TestCrossDeviceOnlyTold(t *testing.T) {
	l := newFastLab(t)
	p, o := l.two(func() { l.write("a", "1"); l.write("b", "1") }, func() { l.write("a", "2"); l.write("b", "2") })
	o.work.Workers = 1
	o.work.Step = func(step string) error {
		if step == "exchange b" {
			return &os.LinkError{Op: "exchange", Err: beneath.ErrCrossDevice}
		}
		return nil
	}
	if _, err := o.work.Apply(context.Background()); !errors.Is(err, beneath.ErrCrossDevice) {
		t.Fatal(err)
	}
	l.want(map[string]string{"a": "file 2", "b": "file 2"})
	o.end()
	l.apply(p, PrepareOptions{Beside: true})
	l.want(map[string]string{"a": "file 1", "b": "file 1"})
}

// asNobody runs the test in a process that may not pass over modes.
func asNobody(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	if os.Getuid() != 0 {
		test(t)
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	base, err := os.MkdirTemp("", "umbra-restore-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	copied := filepath.Join(base, "test")
	data, err := os.ReadFile(program)
	if err == nil {
		err = errors.Join(os.WriteFile(copied, data, 0o755), os.Chmod(copied, 0o755), os.Chmod(base, 0o777))
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(copied, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = base
	cmd.Env = []string{"TMPDIR=" + base, "HOME=" + base, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

func TestReadOnlyDirectories(t *testing.T) {
	asNobody(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "ro")
		err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "a"), []byte("1"), 0o444), os.Chmod(dir, 0o555))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
		plain := os.WriteFile(filepath.Join(dir, "a"), []byte("2"), 0o644)
		hazards.Shown(t, hazards.H15, errors.Is(plain, os.ErrPermission), "a plain write fails at a read-only file or directory")
		hazards.Held(t, hazards.H15, "read-only files and directories are replaced, and as read-only as before")
		readOnlyDirectories(t)
	})
}

// TestUnreadableFiles: saved with a mode under which even their owner cannot
// read them, while a restore runs.
func TestUnreadableFiles(t *testing.T) {
	asNobody(t, func(t *testing.T) {
		l := newFastLab(t)
		p, o := l.two(func() { l.write("a", "1"); l.write("b", "1") }, func() { l.write("a", "2"); l.write("b", "2"); l.write("c", "2") })
		save := func(name string) { l.write(name, "theirs"); l.must(os.Chmod(l.path(name), 0)) }
		o.at("exchange a", func() { save("a"); save("c") })
		outcome := o.apply()
		l.want(map[string]string{"a": "file 1", "b": "file 1"})
		if len(outcome.Displaced) != 2 || read(t, &outcome.Displaced[0]) != "theirs" || read(t, &outcome.Displaced[1]) != "theirs" {
			t.Errorf("displaced %v", outcome.Displaced)
		}
		if settled := o.end(); settled.Empty || len(settled.Displaced) != 2 {
			t.Errorf("settled %+v", settled)
		}
		save("a")
		undo := l.inverse(p)
		if got := lines(undo); got != "C c, K a changed, R b" {
			t.Errorf("undo: %s", got)
		}
		l.must(os.Chmod(l.path("a"), 0o600))
	})
}

// TestDirectoryThatWasUnread: what is below a directory that the safety snapshot
// could not read is left, whether the directory can be read by then or not.
func TestDirectoryThatWasUnread(t *testing.T) {
	asNobody(t, func(t *testing.T) {
		l := newFastLab(t)
		for _, path := range []string{"b", "d/gone", "d/here", "d/sub/x", "file", "other/x"} {
			l.write(path, "1")
		}
		l.must(errors.Join(os.Mkdir(l.path("d/empty"), 0o755), os.Chmod(l.path("d/sub"), 0o700)))
		to := l.capture()
		l.remove("b", "d/gone", "d/empty", "d/sub/x", "file")
		l.write("d/here", "2")
		l.write("file/x", "2")
		chmod := func(perm os.FileMode) {
			l.must(errors.Join(os.Chmod(l.path("d"), perm), os.Chmod(l.path("file"), perm)))
		}
		l.must(os.Chmod(l.path("d/sub"), 0o755))
		chmod(0)
		from := l.capture()
		const want = "C b, K d/empty unreadable, K d/gone unreadable, K d/here unreadable, K d/sub/x unreadable, K file unreadable"
		if got := lines(l.plan(from, to)); got != want {
			t.Errorf("unreadable still: %s", got)
		}
		if got := lines(l.plan(from, to, func(r *Request) { r.Paths = []string{"d/sub"} })); got != "K d/sub/x unreadable" {
			t.Errorf("of one directory in it: %s", got)
		}
		chmod(0o755)
		before := l.disk()
		p := l.plan(from, to)
		if got := lines(p); got != want {
			t.Fatalf("readable again: %s", got)
		}
		l.apply(p, PrepareOptions{})
		before["b"] = "file 1"
		l.same("restored", l.disk(), before)
	})
}

// readOnlyDirectories fails at each step, and then at none.
func readOnlyDirectories(t *testing.T) {
	for _, options := range []PrepareOptions{{}, {Beside: true}} {
		for at, failed := 1, true; failed && !t.Failed(); at++ {
			l := newFastLab(t)
			to, before := l.readOnly()
			p := l.plan(l.capture(), to)
			o := l.begin(p, options)
			var count atomic.Int64
			failed = false
			o.work.Step = func(string) error {
				if count.Add(1) == int64(at) {
					failed = true
					return unix.EIO
				}
				return nil
			}
			_, err := o.work.Apply(context.Background())
			o.work.Step = nil
			if failed {
				var failure *Failure
				if !errors.Is(err, unix.EIO) || errors.As(err, &failure) && failure.Back != nil {
					t.Fatal(err)
				}
				l.same(fmt.Sprintf("failed at step %d", at), l.exact(), before)
				o.end()
			} else {
				l.must(err)
				o.end()
				l.same("there", l.exact(), map[string]string{
					"ro": "dir 555", "ro/a": "file 1 444", "ro/in": "dir 500", "ro/in/b": "file 1 644", "ro/in/same": "file s 644",
					"ro/gone": "dir 555", "ro/gone/g": "file 1 644",
				})
				l.apply(l.inverse(p), options)
				l.same("undone", l.exact(), before)
			}
			for _, dir := range []string{"ro", "ro/in", "ro/new"} {
				l.must(os.Chmod(l.path(dir), 0o755))
			}
		}
	}
}

// readOnly makes two states with directories that may not be written to.
func (l *lab) readOnly() (to Side, before map[string]string) {
	l.t.Helper()
	l.write("ro/a", "1")
	l.write("ro/in/b", "1")
	l.write("ro/in/same", "s")
	l.write("ro/gone/g", "1")
	l.must(os.Chmod(l.path("ro/a"), 0o444))
	l.must(os.Chmod(l.path("ro/in"), 0o500))
	l.must(os.Chmod(l.path("ro/gone"), 0o555))
	l.must(os.Chmod(l.path("ro"), 0o555))
	to = l.capture()
	l.must(os.Chmod(l.path("ro"), 0o755))
	l.must(os.Chmod(l.path("ro/gone"), 0o755))
	l.remove("ro/a", "ro/gone")
	l.write("ro/a", "2")
	l.must(os.Chmod(l.path("ro/a"), 0o444))
	l.must(os.Chmod(l.path("ro/in"), 0o700))
	l.remove("ro/in/b")
	l.write("ro/in/new", "2")
	l.write("ro/new/n", "2")
	l.must(os.Chmod(l.path("ro/in"), 0o550))
	l.must(os.Chmod(l.path("ro/new"), 0o555))
	l.must(os.Chmod(l.path("ro"), 0o555))
	if err := os.WriteFile(l.path("ro/x"), nil, 0o644); !errors.Is(err, os.ErrPermission) {
		l.t.Fatalf("the directory is not read-only: %v", err)
	}
	return to, l.exact()
}

// TestHostileTreeWritesNothingOutside applies what the plan leaves of one.
func TestHostileTreeWritesNothingOutside(t *testing.T) {
	hazards.Held(t, hazards.H11, "of a hostile tree only what has a lawful name is written, below handles that follow no link")
	l := newLab(t)
	l.write("a", "1")
	outside := filepath.Join(l.base, "outside")
	l.must(os.Mkdir(outside, 0o755))
	l.must(os.MkdirAll(l.path(".git/hooks"), 0o755))
	l.link(outside, "link")
	from := l.capture()
	evil := l.blob("evil")
	file := func(name string) gitstore.TreeEntry {
		return gitstore.TreeEntry{Name: name, Mode: gitstore.ModeFile, ID: evil}
	}
	dir := func(name string, entries ...gitstore.TreeEntry) gitstore.TreeEntry {
		return gitstore.TreeEntry{Name: name, Mode: gitstore.ModeDir, ID: l.tree(entries...)}
	}
	to := from
	to.Tree = l.tree(
		file("../outside/1"), dir("..", dir("outside", file("2"))), file(outside+"/3"), dir(".git", dir("hooks", file("pre-commit"))),
		dir(".GIT", file("config")), dir("link", file("4")), file("link/5"),
		gitstore.TreeEntry{Name: "new", Mode: gitstore.ModeSymlink, ID: l.blob(outside)}, file("new/6"), dir("new", file("7")), file("good"),
		dir(".g\u200cit", dir("hooks", file("8"))), dir("git~1", file("9")), dir(".git::$INDEX_ALLOCATION", file("10")), dir(".git ", file("11")), dir(".git.", file("12")),
		file(strings.Repeat("n", 256)), file("twice"), gitstore.TreeEntry{Name: "twice", Mode: gitstore.ModeSymlink, ID: l.blob(outside)}, dir("twice", file("13")),
		gitstore.TreeEntry{Name: "chain", Mode: gitstore.ModeSymlink, ID: l.blob("chain2")}, gitstore.TreeEntry{Name: "chain2", Mode: gitstore.ModeSymlink, ID: l.blob("link")}, file("chain/14"),
	)
	p := l.plan(from, to)
	o := l.begin(p, PrepareOptions{})
	o.apply()
	o.end()
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) > 0 {
		t.Errorf("outside: %v, %v", entries, err)
	}
	hooks, err := os.ReadDir(l.path(".git/hooks"))
	if err != nil || len(hooks) > 0 {
		t.Errorf("hooks: %v, %v", hooks, err)
	}
	if l.disk()["good"] != "file evil" {
		t.Errorf("disk: %v", l.disk())
	}
}
