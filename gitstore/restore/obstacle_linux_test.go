package restore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// setFlags sets a file's flags as chattr does, or skips the test. They are lifted in
// the end.
func setFlags(t *testing.T, path string, set uint32) {
	t.Helper()
	const get, put = 0x80086601, 0x40086602 // FS_IOC_GETFLAGS, FS_IOC_SETFLAGS
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	was, err := unix.IoctlGetUint32(int(file.Fd()), get)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(file.Fd()), put, int(was|set))
	}
	if err != nil {
		_ = file.Close()
		t.Skipf("flags can't be set here: %v", err)
	}
	t.Cleanup(func() {
		defer file.Close()
		if err := unix.IoctlSetPointerInt(int(file.Fd()), put, int(was)); err != nil {
			t.Error(err)
		}
	})
}

const immutable, appendOnly = 0x10, 0x20 // FS_IMMUTABLE_FL, FS_APPEND_FL

// keptReasons are the reasons of a plan by path.
func keptReasons(p *Plan) map[string]Reason {
	out := map[string]Reason{}
	for _, k := range p.Keep {
		out[k.Path] = k.Reason
	}
	return out
}

// wantKept compares what a plan keeps.
func wantKept(t *testing.T, p *Plan, want map[string]Reason) {
	t.Helper()
	got := keptReasons(p)
	for path, why := range want {
		if got[path] != why {
			t.Errorf("%s is kept as %q, want %q", path, got[path], why)
		}
	}
	if len(got) != len(want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}

// TestImmutableIsLeft: a file or directory that may not be changed does not stop the
// others, whether the plan has seen it or it became so after that.
func TestImmutableIsLeft(t *testing.T) {
	t.Parallel()
	hazards.Held(t, hazards.H15, "what the system does not let this process change is left and named, in the preview too, and the rest is done")
	l := newLab(t)
	l.write("a", "target")
	l.write("fixed", "target")
	l.write("log", "target")
	l.write("dir/gone", "target")
	to := l.capture()
	for _, name := range []string{"a", "fixed", "log"} {
		l.write(name, "source")
	}
	l.remove("dir/gone")
	l.write("dir/new", "source")
	l.write("b", "source")
	from := l.capture()
	blind := l.plan(from, to)
	setFlags(t, l.path("fixed"), immutable)
	setFlags(t, l.path("log"), appendOnly)
	setFlags(t, l.path("dir"), immutable)
	kept := map[string]Reason{"fixed": "immutable", "log": "append-only", "dir/gone": "immutable", "dir/new": "immutable"}
	seen := l.plan(from, to)
	wantKept(t, seen, kept)
	before := l.disk()
	o := l.begin(blind, PrepareOptions{})
	outcome, err := o.work.Apply(context.Background())
	l.must(err)
	for _, left := range outcome.Left {
		if kept[left.Path] != left.Reason {
			t.Errorf("%s is left as %q, want %q", left.Path, left.Reason, kept[left.Path])
		}
	}
	if len(outcome.Left) != len(kept) {
		t.Errorf("left %v", outcome.Left)
	}
	want := l.planned(before, seen)
	l.want(want)
	o.end()
	l.apply(l.inverse(blind), PrepareOptions{})
	l.want(before)
}

// TestImmutableIsLeftByRecovery: a restore that was killed, and whose directories may not
// be changed by now, comes to its end, and says of each path why it is left.
func TestImmutableIsLeftByRecovery(t *testing.T) {
	t.Parallel()
	for at, more := 1, true; more && !t.Failed(); at++ {
		more = false
		t.Run(fmt.Sprintf("killed at step %d", at), func(t *testing.T) {
			l := newLab(t)
			l.write("a", "target")
			l.write("fixed", "target")
			l.write("logs/run", "same")
			l.must(os.Chmod(l.path("logs/run"), 0o755))
			l.must(os.MkdirAll(l.path("closed"), 0o755))
			to := l.capture()
			for _, name := range []string{"a", "fixed", "closed/f", "gone/f"} {
				l.write(name, "source")
			}
			l.must(os.Chmod(l.path("logs/run"), 0o644))
			for _, dir := range []string{"closed", "gone"} {
				l.must(os.Chmod(l.path(dir), 0o555))
			}
			o := l.begin(l.plan(l.capture(), to), PrepareOptions{})
			for _, name := range []string{"closed", "gone", "fixed", "logs/run"} {
				setFlags(t, l.path(name), immutable)
			}
			setFlags(t, l.path("logs"), appendOnly)
			more = l.spawn(o.work.Entry.ID(), "apply", at)
			o = l.resume(o.work.Entry.ID())
			recovery, outcome, err := o.work.Recover(context.Background(), func(context.Context) (bool, error) { return true, nil })
			l.must(err)
			o.end()
			if recovery == Back {
				return
			}
			left := map[string]Reason{}
			for _, k := range outcome.Left {
				left[k.Path] = k.Reason
			}
			want := map[string]Reason{"fixed": "immutable", "closed/f": "immutable", "gone/f": "immutable", "logs/run": "immutable"}
			if !maps.Equal(left, want) || !strings.Contains(l.disk()["a"], "target") {
				t.Errorf("%s: left %v, want %v", recovery, left, want)
			}
		})
	}
}

// TestReadOnlyMountIsLeft: nothing in a read-only mount, and nothing that something is
// mounted at, stops the rest.
func TestReadOnlyMountIsLeft(t *testing.T) {
	l := newLab(t)
	for _, name := range []string{"a", "bind/f", "at", "empty/f"} {
		l.write(name, "target")
	}
	to := l.capture()
	for _, name := range []string{"a", "bind/f", "at"} {
		l.write(name, "source")
	}
	l.remove("empty")
	l.write("old/f", "source")
	bind := func(path string) {
		t.Helper()
		if err := unix.Mount(path, path, "", unix.MS_BIND, ""); err != nil {
			t.Skipf("mounting is not permitted: %v", err)
		}
		t.Cleanup(func() { l.must(unix.Unmount(path, unix.MNT_DETACH)) })
	}
	bind(l.path("bind"))
	l.must(unix.Mount("", l.path("bind"), "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	bind(l.path("at"))
	bind(l.path("old"))
	p := l.plan(l.capture(), to)
	wantKept(t, p, map[string]Reason{"bind/f": "read-only", "at": "mount", "old": "mount"})
	want := l.planned(l.disk(), p)
	l.apply(p, PrepareOptions{})
	l.want(want)
}

// TestForbiddenIsLeft runs as another user, in whose workspace a directory is root's, as
// a container leaves it, and another is shared.
func TestForbiddenIsLeft(t *testing.T) {
	const variable = "UMBRA_TEST_FORBIDDEN"
	if base := os.Getenv(variable); base != "" {
		restoreBesideForbidden(t, base)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	t.Parallel()
	const other = 65534
	base := t.TempDir()
	for dir := base; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(base, "restore.test")
	self, err := os.ReadFile(os.Args[0])
	err = errors.Join(err, os.WriteFile(program, self, 0o755))
	for name, perm := range map[string]os.FileMode{"theirs": 0o755, "shared": 0o777 | os.ModeSticky, "mine": 0o755} {
		dir := filepath.Join(base, "ws", name)
		err = errors.Join(err, os.MkdirAll(dir, 0o755), os.Chmod(dir, perm), os.WriteFile(filepath.Join(dir, "f"), []byte("source"), 0o644))
	}
	for _, name := range []string{"", "ws", "ws/mine", "ws/mine/f"} {
		err = errors.Join(err, os.Chown(filepath.Join(base, name), other, other))
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^TestForbiddenIsLeft$", "-test.v")
	cmd.Env = append(os.Environ(), variable+"="+base, "HOME="+base, "TMPDIR="+base)
	cmd.Dir = base
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: other, Gid: other}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("as another user: %v\n%s", err, out)
	}
}

// restoreBesideForbidden restores to a tree in which each file is another, and the
// files in the other user's directories are gone.
func restoreBesideForbidden(t *testing.T, base string) {
	l := newLabAt(t, base, filepath.Join(base, "ws"))
	l.write("a", "source")
	l.write("mine/only", "source")
	l.must(os.Chmod(l.path("mine"), 0o555))
	from := l.capture()
	to := from
	target := l.blob("target")
	file := func(name string) gitstore.TreeEntry {
		return gitstore.TreeEntry{Name: name, Mode: gitstore.ModeFile, ID: target}
	}
	dir := func(name string, entries ...gitstore.TreeEntry) gitstore.TreeEntry {
		return gitstore.TreeEntry{Name: name, Mode: gitstore.ModeDir, ID: l.tree(entries...)}
	}
	to.Tree = l.tree(file("a"), dir("mine", file("f")), dir("theirs", file("new")))
	p := l.plan(from, to)
	kept := map[string]Reason{"theirs/f": ReasonForbidden, "theirs/new": ReasonForbidden, "shared/f": ReasonForbidden}
	wantKept(t, p, kept)
	want := l.planned(l.disk(), p)
	l.apply(p, PrepareOptions{})
	l.want(want)
	l.apply(l.inverse(p), PrepareOptions{Beside: true})
}
