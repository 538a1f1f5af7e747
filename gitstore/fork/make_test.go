package fork

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rich fills a repository with everything that can be staged.
func rich(l *lab) {
	l.write(".gitignore", "/ignored/\n*.log\n")
	l.write("kept.txt", "kept\n")
	l.write("changed.txt", "one\n")
	l.write("removed.txt", "removed\n")
	l.write("conflict.txt", "base\n")
	l.write("assumed.txt", "assumed\n")
	l.write("dir/deep/file.go", "package deep\n")
	l.initGit()
	l.git(l.top, "switch", "-q", "-c", "side")
	l.write("conflict.txt", "theirs\n")
	l.commit("theirs")
	l.git(l.top, "switch", "-q", "main")
	l.write("conflict.txt", "ours\n")
	l.commit("ours")
	if _, err := tryGit(l.top, "merge", "side"); err == nil {
		l.t.Fatal("the merge did not conflict")
	}
	l.write("changed.txt", "staged\n")
	l.write("new.txt", "new\n")
	l.git(l.top, "add", "changed.txt", "new.txt")
	l.write("changed.txt", "unstaged\n")
	l.git(l.top, "rm", "-q", "removed.txt")
	l.write("intended.txt", "intended\n")
	l.git(l.top, "add", "-N", "intended.txt")
	l.git(l.top, "update-index", "--assume-unchanged", "assumed.txt")
	l.write("assumed.txt", "changed all the same\n")
	l.write("untracked.txt", "untracked\n")
	l.write("ignored/cache.bin", strings.Repeat("cache", 1000))
	l.write("ignored/sub/x.log", "log\n")
	l.write("big.dat", strings.Repeat("b", int(l.cap)+1))
	l.write(".env", "TOKEN=1\n")
	for _, dir := range []string{"empty", "ignored/empty"} {
		if err := os.MkdirAll(filepath.Join(l.top, dir), 0o750); err != nil {
			l.t.Fatal(err)
		}
	}
	if err := os.Symlink("kept.txt", filepath.Join(l.top, "link")); err != nil {
		l.t.Fatal(err)
	}
	l.write("bin/run", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(l.top, "bin/run"), 0o700); err != nil {
		l.t.Fatal(err)
	}
}

func TestForkIsTheSource(t *testing.T) {
	l := newLab(t)
	rich(l)
	src := l.snapshot()
	check := l.untouched()
	made := l.fork(src, l.target("one"))
	check()
	l.same(made)
	if made.Branch != "umbra/one" || made.Head != src.Head || made.Fallback || len(made.Left) > 0 {
		t.Errorf("made %+v", made)
	}
	if got := l.git(made.Worktree, "rev-parse", "HEAD", "--abbrev-ref", "HEAD"); got != src.Head+"\numbra/one" {
		t.Errorf("HEAD is %q", got)
	}
	if got := l.git(l.top, "worktree", "list", "--porcelain"); !strings.Contains(got, "locked workspace of an Umbra mission") {
		t.Errorf("the worktree is not locked: %s", got)
	}
}

func TestUndoLeavesNothing(t *testing.T) {
	l := newLab(t)
	rich(l)
	src := l.snapshot()
	before := contents(t, l.top)
	made := l.fork(src, l.target("one"))
	if _, err := made.Undo(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	l.gone(made.Document)
	after := contents(t, l.top)
	for path := range after {
		if strings.HasPrefix(path, ".git/objects/") && before[path] == "" {
			delete(after, path)
		}
	}
	for _, path := range []string{".git/logs/refs/heads/umbra", ".git/refs/heads/umbra"} {
		delete(after, path) // git leaves these, empty
	}
	equal(t, "the source after undo", after, before)
	if _, err := made.Undo(t.Context(), t.TempDir()); err != nil {
		t.Errorf("a second undo: %v", err)
	}
}

func TestUndoOfNothing(t *testing.T) {
	if err := UndoDocument(t.Context(), Document{}, t.TempDir()); err != nil {
		t.Error(err)
	}
	if err := UndoDocument(t.Context(), Document{Version: documentVersion + 1, Operation: uuid(), Directory: t.TempDir()}, t.TempDir()); err == nil {
		t.Error("a description of another version was taken")
	}
}

// gone checks that nothing of a fork is left.
func (l *lab) gone(doc Document) {
	l.t.Helper()
	if _, err := os.Lstat(doc.Directory); err == nil && !doc.Existed {
		l.t.Errorf("%s is still there", doc.Directory)
	}
	for _, dir := range doc.Parents {
		if _, err := os.Lstat(dir); err == nil {
			l.t.Errorf("%s is still there", dir)
		}
	}
	if doc.CommonDir == "" {
		return
	}
	if out := l.git(l.top, "branch", "--list", "umbra*"); out != "" {
		l.t.Errorf("branches are left: %s", out)
	}
	if out := l.git(l.top, "worktree", "list"); strings.Contains(out, doc.Directory) {
		l.t.Errorf("the worktree is left: %s", out)
	}
}

func TestCanceledForkLeavesNothing(t *testing.T) {
	l := newLab(t)
	rich(l)
	src := l.snapshot()
	for _, files := range []int{0, 1, 5} {
		ctx, cancel := context.WithCancel(t.Context())
		target := l.target("canceled")
		var doc Document
		target.Record = func(d Document) error {
			doc = d
			if files == 0 && d.Branch != "" {
				cancel()
			}
			return nil
		}
		target.Progress = func(p Progress) {
			if files > 0 && p.Files >= files {
				cancel()
			}
		}
		if _, err := Make(ctx, src, target); err == nil {
			t.Fatalf("canceled after %d files: no error", files)
		}
		l.gone(doc)
		cancel()
	}
}
