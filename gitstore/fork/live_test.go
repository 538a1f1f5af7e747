package fork

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/gitdir"
)

func TestWhatComesAlong(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", "/ignored/\n/venv/\n")
	l.write("a.txt", "then\n")
	l.write("gone-later.txt", "then\n")
	l.write("place", "a file then\n")
	l.initGit()
	src := l.snapshot()
	l.write("a.txt", "later\n")
	l.write("made-later.txt", "later\n")
	os.Remove(filepath.Join(l.top, "gone-later.txt"))
	os.Remove(filepath.Join(l.top, "place"))
	l.write("place/.env", "SECRET\n")
	l.write("ignored/x", "x\n")
	l.write("ignored/.umbra-notes", "the user's\n")
	l.write("venv/pyvenv.cfg", "home = "+l.top+"/venv/bin\n")
	l.write("venv/bin/pip", "#!"+l.top+"/venv/bin/python\n")
	l.write("venv/bin/other", "#!"+l.top+"-other/bin/python\n")
	for _, name := range []string{"pip", "other"} {
		os.Chmod(filepath.Join(l.top, "venv/bin", name), 0o755)
	}
	for name, target := range map[string]string{"in": l.top + "/a.txt", "out": "/usr", "relative": "../a.txt"} {
		if err := os.Symlink(target, filepath.Join(l.top, "venv", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(l.top, "ignored/fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(l.top, "ignored/x"), filepath.Join(l.top, "ignored/hard")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(l.top, "ignored"), 0o555); err != nil {
		t.Fatal(err)
	}
	past := src
	newest := l.snapshot()
	past.Rules, past.Skipped, past.Now = newest.Rules, newest.Skipped, false
	check := l.untouched()
	made := l.fork(past, l.target("past"))
	check()
	want := contents(t, l.top, ".git", "made-later.txt", "place", "ignored/fifo")
	want["a.txt"], want["gone-later.txt"], want["place"] = "-rw-r--r-- then\n", "-rw-r--r-- then\n", "-rw-r--r-- a file then\n"
	equal(t, "the fork", contents(t, made.Workspace, ".git"), want)
	if got := reasons(made.Left); len(got) != 2 || got["ignored/fifo"] != reasonSpecial || got["place/.env"] != reasonInTheWay {
		t.Errorf("left %v", got)
	}
	slices.Sort(made.PointsIn)
	if got := oneLine(made.PointsIn); got != "venv/bin/pip venv/in venv/pyvenv.cfg" {
		t.Errorf("points in: %s", got)
	}
	for _, name := range []string{"x", "hard"} {
		if st, err := os.Stat(filepath.Join(made.Workspace, "ignored", name)); err != nil || st.Sys().(*syscall.Stat_t).Nlink != 1 {
			t.Errorf("%s is a hard link, or %v", name, err)
		}
	}

	target := l.target("skipped")
	target.CopyIgnored = false
	made = l.fork(past, target)
	maps.DeleteFunc(want, func(path, _ string) bool { return inside(path, "ignored") || inside(path, "venv") })
	equal(t, "the fork without ignored files", contents(t, made.Workspace, ".git"), want)
}

func TestTimesOfUnchangedFilesStay(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", "/out/\n")
	l.write("a.c", "a\n")
	l.write("out/a.o", "o\n")
	l.initGit()
	made := l.fork(l.snapshot(), l.target("times"))
	for _, path := range []string{"a.c", "out/a.o"} {
		was, err := os.Stat(filepath.Join(l.top, path))
		if err != nil {
			t.Fatal(err)
		}
		is, err := os.Stat(filepath.Join(made.Workspace, path))
		if err != nil || !is.ModTime().Equal(was.ModTime()) {
			t.Errorf("%s: %v, not %v (%v)", path, is.ModTime(), was.ModTime(), err)
		}
	}
	if got := l.git(made.Worktree, "diff-files", "--raw"); got != "" {
		t.Errorf("git does not know that files are as the index says: %s", got)
	}
}

func TestSourceGone(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", "ignored\n")
	l.write("a.txt", "a\n")
	l.write("ignored", "i\n")
	l.write("key.pem", "secret\n")
	l.initGit()
	l.write("big.dat", strings.Repeat("b", int(l.cap)+1))
	src := l.snapshot()
	src.Live, src.Identity = "", beneath.Identity{}
	made := l.fork(src, l.target("gone"))
	want := contents(t, l.top, ".git", "ignored", "big.dat")
	equal(t, "the fork", contents(t, made.Workspace, ".git"), want)
	if got := reasons(made.Left); got["big.dat"] != reasonSourceGone {
		t.Errorf("left %v", got)
	}
}

func TestAnotherDirectoryInTheSourcesPlace(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "a\n")
	src := l.snapshot()
	if err := os.Rename(l.top, l.top+"-moved"); err != nil {
		t.Fatal(err)
	}
	l.write("b.txt", "b\n")
	if _, err := Make(t.Context(), src, l.target("x")); !errors.Is(err, beneath.ErrMoved) {
		t.Errorf("error %v", err)
	}
}

func TestLimit(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", "/ignored/\n")
	l.write("ignored/a", strings.Repeat("x", 5000))
	l.write("ignored/b", strings.Repeat("x", 5000))
	l.initGit()
	src := l.snapshot()
	target := l.target("limit")
	target.Limit = 9999
	target.Record = func(Document) error {
		t.Error("recorded before the limit was looked at")
		return nil
	}
	_, err := Make(t.Context(), src, target)
	limit := (*LimitError)(nil)
	if !errors.As(err, &limit) || limit.Bytes != 10000 || limit.Files != 2 {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Dir(target.Directory)); err == nil {
		t.Error("something was made")
	}
	target.Record, target.Force = nil, true
	l.same(l.fork(src, target))
}

func TestTargetsRefused(t *testing.T) {
	l := newLab(t)
	l.write("a/b.txt", "b\n")
	l.initGit()
	src := l.snapshot()
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(l.base, "link")
	if err := os.Symlink(l.top, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{
		"relative", full, filepath.Join(full, "x"), l.top + "/a/new", link + "/new", l.top + "/.git/new", l.base, "/",
	} {
		target := l.target("refused")
		target.Directory = dir
		_, err := Make(t.Context(), src, target)
		if refusal := (*TargetError)(nil); !errors.As(err, &refusal) {
			t.Errorf("%s: error %v", dir, err)
		}
	}
	target := l.target("empty")
	target.Directory = t.TempDir()
	made := l.fork(src, target)
	l.same(made)
	if _, err := made.Undo(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(target.Directory); err != nil || len(names) > 0 {
		t.Errorf("after undo: %v %v", names, err)
	}
}

func TestHostileTree(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "a\n")
	src := l.snapshot()
	batch := l.store.NewBatch()
	defer batch.Discard()
	blob, err := batch.Blob([]byte("#!/bin/sh\n"))
	if err != nil {
		t.Fatal(err)
	}
	tree := func(mode gitstore.Mode, name string, id gitstore.ID) gitstore.ID {
		data := append([]byte(strings.TrimPrefix(mode.String(), "0")+" "+name+"\x00"), id[:]...)
		id, err := batch.Write(gitstore.TypeTree, data)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	inner := tree(gitstore.ModeExec, "x", blob)
	link, err := batch.Blob([]byte(l.base))
	if err != nil {
		t.Fatal(err)
	}
	double := bytes.Join([][]byte{[]byte("120000 d\x00"), link[:], []byte("40000 d\x00"), inner[:]}, nil)
	both, err := batch.Write(gitstore.TypeTree, double)
	if err != nil {
		t.Fatal(err)
	}
	trees := []gitstore.ID{
		both, tree(gitstore.ModeExec, "..", blob), tree(gitstore.ModeDir, "..", inner), tree(gitstore.ModeDir, ".GIT", inner),
		tree(gitstore.ModeDir, "git~1", inner), tree(gitstore.ModeExec, "a/b", blob), tree(gitstore.ModeExec, "", blob),
		tree(gitstore.ModeDir, ".g\u200cit", inner), tree(gitstore.ModeDir, ".git::$INDEX_ALLOCATION", inner), tree(gitstore.ModeDir, ".git ", inner),
		tree(gitstore.ModeExec, "/etc/x", blob), tree(gitstore.ModeExec, strings.Repeat("n", 256), blob), tree(gitstore.ModeExec, "...\\..\\x\x00y", blob),
	}
	if err := batch.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n, id := range trees {
		src.Tree = id
		target := l.target("hostile")
		if _, err := Make(t.Context(), src, target); err == nil {
			t.Errorf("tree %d was made", n)
		}
		if _, err := os.Lstat(filepath.Dir(target.Directory)); err == nil {
			t.Errorf("tree %d: something was left", n)
		}
	}
}

func TestMissingObjectMakesNothing(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "a\n")
	l.initGit()
	src := l.snapshot()
	src.Live = ""
	batch := l.store.NewBatch()
	defer batch.Discard()
	id, err := batch.Tree([]gitstore.TreeEntry{{Name: "lost", Mode: gitstore.ModeFile, ID: gitstore.HashObject(gitstore.TypeBlob, []byte("lost"))}})
	if err != nil {
		t.Fatal(err)
	}
	if err := batch.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	src.Tree, src.Identity = id, beneath.Identity{}
	var doc Document
	target := l.target("lost")
	target.Record = func(d Document) error { doc = d; return nil }
	if _, err := Make(t.Context(), src, target); !errors.Is(err, gitstore.ErrMissing) {
		t.Errorf("error %v", err)
	}
	l.gone(doc)
}

func TestSparseFileStaysSparse(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", "disk\n")
	l.initGit()
	f, err := os.Create(filepath.Join(l.top, "disk"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, at := range []int64{1 << 20, 5 << 20} {
		if _, err := f.WriteAt([]byte("data"), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Truncate(16 << 20); err != nil {
		t.Fatal(err)
	}
	made := l.fork(l.snapshot(), l.target("sparse"))
	l.same(made)
	var st unix.Stat_t
	if err := unix.Stat(filepath.Join(made.Workspace, "disk"), &st); err != nil || st.Blocks*512 > 1<<20 {
		t.Errorf("%d blocks, %v", st.Blocks, err)
	}
}

// TestHolesOfThePast: a file of a past moment has holes where zeros are many.
func TestHolesOfThePast(t *testing.T) {
	l := newLab(t)
	l.initGit() // what Git tracks it reads by mmap, which fills holes on a tmpfs
	content := "a" + strings.Repeat("\x00", 800<<10) + "b"
	l.write("disk", content)
	l.write("end", "a"+strings.Repeat("\x00", 512<<10-1))
	source := l.snapshot()
	if err := errors.Join(os.Remove(filepath.Join(l.top, "disk")), os.Remove(filepath.Join(l.top, "end"))); err != nil {
		t.Fatal(err)
	}
	made := l.fork(source, l.target("past"))
	for name, want := range map[string]string{"disk": content, "end": "a" + strings.Repeat("\x00", 512<<10-1)} {
		got, err := os.ReadFile(filepath.Join(made.Workspace, name))
		if err != nil || string(got) != want {
			t.Errorf("%s has %d bytes, %v", name, len(got), err)
		}
		var st unix.Stat_t
		if err := unix.Stat(filepath.Join(made.Workspace, name), &st); err != nil || st.Blocks*512 > 256<<10 {
			t.Errorf("%s takes %d blocks, %v", name, st.Blocks, err)
		}
	}
}

// TestScanOfTreeThatGrows: somebody makes a directory in each one that the scan comes to. The
// scan ends where a capture ends, and says where.
func TestScanOfTreeThatGrows(t *testing.T) {
	l := newLab(t)
	l.write("d/f", "f")
	root, err := beneath.Open(l.top)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ahead := 0
	s := &scanner{ctx: t.Context(), root: root, snapshot: &listing{}, nestedToo: func(string, bool) bool { return false }}
	s.judge = func(path string, mode gitstore.Mode, _ int64) (verdict, error) {
		if ahead++; mode.IsDir() && ahead <= 2*capture.Deepest {
			return take, root.Mkdir(path+"/d", 0o755)
		}
		return take, nil
	}
	if err := s.directory("", false, 0); err != nil {
		t.Fatal(err)
	}
	end := "d" + strings.Repeat("/d", capture.Deepest)
	if len(s.left) != 1 || s.left[0] != (Left{end, reasonDepth}) {
		t.Errorf("%d paths are left out", len(s.left))
	}
	if s.files != 1 || len(s.items) != capture.Deepest+1 {
		t.Errorf("%d files and directories come along", len(s.items))
	}
	if _, err := (gitdir.Lister{Dir: l.top}).List(t.Context()); err == nil || !strings.Contains(err.Error(), "directories") {
		t.Errorf("a git directory that deep: %v", err)
	}
}
