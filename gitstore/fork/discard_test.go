package fork

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInspectAndDiscard(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", "/ignored/\n")
	l.write("a.txt", "a\n")
	l.write("b.txt", "b\n")
	l.initGit()
	l.write("ignored/x", "x\n")
	src := l.snapshot()
	made := l.fork(src, l.target("work"))
	h, err := Inspect(t.Context(), made.Document, src)
	if err != nil || oneLine(h.Ignored) != "ignored/" || len(h.Uncaptured)+len(h.Commits) != 0 {
		t.Errorf("holdings %+v, %v", h, err)
	}
	if err := os.WriteFile(filepath.Join(made.Workspace, "b.txt"), []byte("c\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"new.txt": "new\n", ".env": "S=1\n"} {
		if err := os.WriteFile(filepath.Join(made.Workspace, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	os.Remove(filepath.Join(made.Workspace, "a.txt"))
	l.git(made.Worktree, "commit", "-qm", "work of the fork", "--", "b.txt")
	h, err = Inspect(t.Context(), made.Document, src)
	if err != nil || oneLine(h.Ignored) != ".env ignored/" || oneLine(h.Uncaptured) != "b.txt new.txt" ||
		len(h.Commits) != 1 || !strings.HasSuffix(h.Commits[0], "work of the fork") {
		t.Errorf("holdings %+v, %v", h, err)
	}
	files := contents(t, made.Workspace)
	trash := t.TempDir()
	d, err := Discard(t.Context(), made.Document, trash)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "what is in the trash", contents(t, d.Directory), files)
	if oneLine(d.Kept) != "umbra/work" || d.Entry == "" || filepath.Dir(d.Directory) != trash {
		t.Errorf("discarded %+v", d)
	}
	if out := l.git(l.top, "worktree", "list"); strings.Contains(out, "work") && strings.Contains(out, made.Worktree) {
		t.Errorf("worktrees: %s", out)
	}
	again, err := Discard(t.Context(), made.Document, trash)
	if err != nil || again.Directory != "" || oneLine(again.Kept) != "umbra/work" {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	l.git(l.top, "merge", "-q", "umbra/work")
	if _, err := Discard(t.Context(), made.Document, trash); err != nil {
		t.Fatal(err)
	}
	if out := l.git(l.top, "branch", "--list", "umbra/*"); out != "" {
		t.Errorf("branches: %s", out)
	}
}

func TestDiscardSavesDetachedCommits(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "a\n")
	l.initGit()
	src := l.snapshot()
	made := l.fork(src, l.target("loose"))
	l.git(made.Worktree, "switch", "-q", "--detach")
	l.git(made.Worktree, "commit", "-q", "--allow-empty", "-m", "on no branch")
	lost := l.git(made.Worktree, "rev-parse", "HEAD")
	l.git(l.top, "worktree", "unlock", made.Worktree)
	h, err := Inspect(t.Context(), made.Document, src)
	if err != nil || len(h.Commits) != 1 {
		t.Errorf("holdings %+v, %v", h, err)
	}
	d, err := Discard(t.Context(), made.Document, t.TempDir())
	if err != nil || oneLine(d.Kept) != "umbra/loose-detached" {
		t.Errorf("discarded %+v, %v", d, err)
	}
	if got := l.git(l.top, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/umbra"); got != "refs/heads/umbra/loose-detached "+lost {
		t.Errorf("branches: %s", got)
	}
}

func TestDiscardKeepsWhatIsNotTheForks(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "a\n")
	l.initGit()
	src := l.snapshot()

	made := l.fork(src, l.target("replaced"))
	if err := os.Rename(made.Worktree, made.Worktree+"-elsewhere"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(made.Worktree, 0o755); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(made.Worktree, "mine")
	if err := os.WriteFile(other, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, f := range []func() error{
		func() error { _, err := Discard(t.Context(), made.Document, t.TempDir()); return err },
		func() error { return UndoDocument(t.Context(), made.Document, t.TempDir()) },
	} {
		if err := f(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(other); err != nil {
			t.Error(err)
		}
	}

	moved := l.fork(src, l.target("moved"))
	l.git(l.top, "worktree", "unlock", moved.Worktree)
	l.git(l.top, "worktree", "lock", "--reason", lockReason(moved.Document.Operation), moved.Worktree)
	l.git(l.top, "worktree", "move", "-f", "-f", moved.Worktree, moved.Worktree+"-2")
	if _, err := Discard(t.Context(), moved.Document, t.TempDir()); err == nil {
		t.Error("a worktree that was moved was discarded")
	}
	if _, err := os.Stat(moved.Worktree + "-2/a.txt"); err != nil {
		t.Error(err)
	}
}

func TestLostWorkspaceIsMadeAgain(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "a\n")
	l.initGit()
	src := l.snapshot()
	lost := l.fork(src, l.target("lost"))
	if err := os.RemoveAll(lost.Worktree); err != nil {
		t.Fatal(err)
	}
	refusal := (*TargetError)(nil)
	if _, err := Make(t.Context(), src, l.target("lost")); !errors.As(err, &refusal) {
		t.Errorf("in the place of a fork that is not removed: %v", err)
	}
	if out := l.git(l.top, "branch", "--list", "umbra/*"); strings.Contains(out, "lost-2") {
		t.Errorf("branches: %s", out)
	}
	h, err := Inspect(t.Context(), lost.Document, src)
	if err != nil || len(h.Ignored)+len(h.Uncaptured)+len(h.Commits) > 0 {
		t.Errorf("holdings %+v, %v", h, err)
	}
	d, err := Discard(t.Context(), lost.Document, t.TempDir())
	if err != nil || d.Directory != "" || d.Entry == "" || len(d.Kept) > 0 {
		t.Errorf("discarded %+v, %v", d, err)
	}
	made := l.fork(src, l.target("lost"))
	l.same(made)
	if made.Branch != "umbra/lost" {
		t.Errorf("branch %s", made.Branch)
	}
}
