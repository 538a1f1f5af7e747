//go:build linux

package fork

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// childLab names the directory of the lab in which a child process forks.
const childLab = "UMBRA_TEST_FORK_LAB"

// TestForkInChild is run by TestKilledForks in a process of its own.
func TestForkInChild(t *testing.T) {
	base := os.Getenv(childLab)
	if base == "" {
		return
	}
	l := &lab{t: t, base: base, top: filepath.Join(base, "source"), cap: 1 << 20}
	var err error
	if l.store, err = shadow.Open(filepath.Join(base, "shadow.git")); err != nil {
		t.Fatal(err)
	}
	src := l.snapshot()
	target := l.target("killed")
	target.Record = func(doc Document) error {
		data, err := json.Marshal(doc)
		if err != nil {
			return err
		}
		at := filepath.Join(base, "document")
		if err := os.WriteFile(at+".new", data, 0o600); err != nil {
			return err
		}
		if err := os.Rename(at+".new", at); err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, os.Stdin)
		return err
	}
	l.fork(src, target)
}

func TestKilledForks(t *testing.T) {
	l := newLab(t)
	rich(l)
	for i := range 300 {
		l.write(fmt.Sprintf("many/%d/%d.txt", i%30, i), strings.Repeat("line\n", i))
	}
	l.snapshot()
	check := l.untouched(".git/refs/heads/umbra", ".git/logs/refs/heads/umbra", ".git/objects")
	document := filepath.Join(l.base, "document")
	killed := 0
	for round := range 10 {
		child := exec.Command(os.Args[0], "-test.run=^TestForkInChild$")
		child.Env = append(os.Environ(), childLab+"="+l.base, "TMPDIR="+t.TempDir())
		if round == 0 { // waits here for its death
			if _, err := child.StdinPipe(); err != nil {
				t.Fatal(err)
			}
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, document)
		time.Sleep(time.Duration(rand.IntN(120)) * time.Millisecond) // the moment of death, not a wait
		if err := child.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		if child.Wait() != nil {
			killed++
		}
		data, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		os.Remove(document)
		var doc Document
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		trash := t.TempDir()
		for range 2 {
			if err := UndoDocument(t.Context(), doc, trash); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		l.gone(doc)
		if out, err := os.ReadDir(filepath.Join(l.top, ".git/worktrees")); err == nil {
			t.Errorf("round %d: entries are left: %v", round, out)
		}
	}
	check()
	if killed == 0 {
		t.Error("no fork was killed before its end")
	}
	l.same(l.fork(l.snapshot(), l.target("killed")))
}

func waitFor(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(patience.Of(time.Minute)); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Fatalf("%s did not appear", path)
}

// mounted is a file system of its own with so much space.
func mounted(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a file system of its own needs a privileged user: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestNoSpaceForTheWorkspace(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", "/ignored/\n")
	for i := range 40 {
		l.write(fmt.Sprintf("src/%d", i), strings.Repeat("text ", 2000))
		l.write(fmt.Sprintf("ignored/%d", i), strings.Repeat("text ", 2000))
	}
	l.initGit()
	src := l.snapshot()
	for _, size := range []string{"64k", "300k", "600k"} {
		check := l.untouched()
		target := l.target("full")
		target.Directory = filepath.Join(mounted(t, size), "deep/full")
		var doc Document
		target.Record = func(d Document) error { doc = d; return nil }
		if _, err := Make(t.Context(), src, target); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%s: error %v", size, err)
		}
		l.gone(doc)
		check()
	}
}

func TestNoSpaceInTheRepository(t *testing.T) {
	l := newLab(t)
	small := mounted(t, "2m")
	l.top = filepath.Join(small, "source")
	if err := os.Mkdir(l.top, 0o755); err != nil {
		t.Fatal(err)
	}
	rich(l)
	src := l.snapshot()
	filler, err := os.Create(filepath.Join(small, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = filler.Write(make([]byte, 4096))
	}
	var doc Document
	target := l.target("full")
	target.Record = func(d Document) error { doc = d; return nil }
	check := l.untouched()
	if _, err := Make(t.Context(), src, target); err == nil {
		t.Error("no error")
	}
	l.gone(doc)
	check()
	if err := errors.Join(filler.Close(), os.Remove(filler.Name())); err != nil {
		t.Fatal(err)
	}
	l.same(l.fork(src, l.target("space-again")))
}

func TestTrashOnAnotherFileSystem(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "a\n")
	l.initGit()
	src := l.snapshot()
	trash := mounted(t, "1m")
	made := l.fork(src, l.target("one"))
	files := contents(t, made.Workspace)
	d, err := Discard(t.Context(), made.Document, trash)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ours := beneath.ParseScratch(filepath.Base(d.Directory)); !ours {
		t.Errorf("moved to %s", d.Directory)
	}
	equal(t, "what was moved", contents(t, d.Directory), files)
	if _, err := os.Stat(filepath.Join(d.Entry, "HEAD")); err != nil || filepath.Dir(d.Entry) != trash {
		t.Errorf("entry at %s: %v", d.Entry, err)
	}
	l.gone(Document{Directory: made.Worktree, CommonDir: made.Document.CommonDir})

	made = l.fork(src, l.target("two"))
	if err := UndoDocument(t.Context(), made.Document, trash); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(made.Worktree); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}
