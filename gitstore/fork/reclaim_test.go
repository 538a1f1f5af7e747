package fork

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// discarded forks the lab's moment, commits in the fork, merges that so that the
// branch goes, and discards the fork.
func (l *lab) discarded(name, trash string) (*Made, map[string]string) {
	l.t.Helper()
	made := l.fork(l.snapshot(), l.target(name))
	for file, content := range map[string]string{"a.txt": "fork\n", ".env": "S=1\n", "staged": "staged\n"} {
		if err := os.WriteFile(filepath.Join(made.Workspace, file), []byte(content), 0o644); err != nil {
			l.t.Fatal(err)
		}
	}
	l.git(made.Worktree, "commit", "-qm", "work of the fork", "--", "a.txt")
	l.git(made.Worktree, "add", "staged")
	l.git(l.top, "merge", "-q", made.Branch)
	files := contents(l.t, made.Workspace)
	if _, err := Discard(l.t.Context(), made.Document, trash); err != nil {
		l.t.Fatal(err)
	}
	if out := l.git(l.top, "branch", "--list", "umbra/*"); out != "" {
		l.t.Fatalf("branches: %s", out)
	}
	return made, files
}

// backAgain checks that a fork is where it was, and git there as it was.
func (l *lab) backAgain(made *Made, trash string, files map[string]string, head string) {
	l.t.Helper()
	equal(l.t, "the workspace", contents(l.t, made.Workspace), files)
	if got := l.git(made.Worktree, "rev-parse", "--abbrev-ref", "HEAD"); got != head {
		l.t.Errorf("HEAD is %s, want %s", got, head)
	}
	if got := l.git(made.Worktree, "status", "--porcelain"); !strings.Contains(got, "A  staged") || strings.Contains(got, "a.txt") {
		l.t.Errorf("status: %s", got)
	}
	if got := l.git(made.Worktree, "log", "-1", "--format=%s"); got != "work of the fork" {
		l.t.Errorf("the commit: %s", got)
	}
	l.git(made.Worktree, "fsck", "--no-dangling")
	if left, err := os.ReadDir(trash); err != nil || len(left) > 0 {
		l.t.Errorf("in the trash: %v %v", left, err)
	}
	again, err := Reclaim(l.t.Context(), made.Document, trash)
	if err != nil || again.Moved || !again.Standing || len(again.Notes) > 0 {
		l.t.Errorf("a second time: %+v %v", again, err)
	}
}

func reclaimLab(t *testing.T) *lab {
	l := newLab(t)
	l.write(".gitignore", ".env\n")
	l.write("a.txt", "a\n")
	l.initGit()
	return l
}

func (l *lab) reclaim(made *Made, trash string) Reclaimed {
	l.t.Helper()
	r, err := Reclaim(l.t.Context(), made.Document, trash)
	if err != nil || !r.Standing {
		l.t.Fatalf("reclaimed: %+v %v", r, err)
	}
	return r
}

func TestReclaim(t *testing.T) {
	l := reclaimLab(t)
	trash := t.TempDir()
	made, files := l.discarded("work", trash)
	if r := l.reclaim(made, trash); !r.Moved || len(r.Notes) > 0 {
		t.Errorf("reclaimed: %+v", r)
	}
	l.backAgain(made, trash, files, "umbra/work")
}

// TestReclaimUnlocked knows the entry by where it leads where the user has unlocked it.
func TestReclaimUnlocked(t *testing.T) {
	l := reclaimLab(t)
	trash := t.TempDir()
	made, files := l.discarded("work", trash)
	if err := os.Remove(filepath.Join(trash, "work.worktree", "locked")); err != nil {
		t.Fatal(err)
	}
	l.reclaim(made, trash)
	l.backAgain(made, trash, files, "umbra/work")
}

// byHand renames the directory to its place.
func byHand(made *Made, trash string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(made.Worktree), 0o755), os.Rename(filepath.Join(trash, "work"), made.Worktree))
}

// TestReclaimCutOff goes on from wherever an earlier call was cut off.
func TestReclaimCutOff(t *testing.T) {
	for name, some := range map[string]func(l *lab, made *Made, trash string) error{
		"after the directory": func(l *lab, made *Made, trash string) error {
			return byHand(made, trash)
		},
		"after the branch": func(l *lab, made *Made, trash string) error {
			l.git(l.top, "branch", "umbra/work", lastHead(filepath.Join(trash, "work.worktree")))
			return byHand(made, trash)
		},
		"after the entry was copied": func(l *lab, made *Made, trash string) error {
			entry := filepath.Join(trash, "work.worktree")
			l.git(l.top, "branch", "umbra/work", lastHead(entry))
			return errors.Join(byHand(made, trash), os.MkdirAll(filepath.Join(l.top, ".git/worktrees"), 0o777),
				os.CopyFS(filepath.Join(l.top, ".git/worktrees/work"), os.DirFS(entry)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := reclaimLab(t)
			trash := t.TempDir()
			made, files := l.discarded("work", trash)
			if err := some(l, made, trash); err != nil {
				t.Fatal(err)
			}
			l.reclaim(made, trash)
			l.backAgain(made, trash, files, "umbra/work")
		})
	}
}

// TestReclaimBranchInUse leaves the branch to the worktree that is on it by now.
func TestReclaimBranchInUse(t *testing.T) {
	l := reclaimLab(t)
	trash := t.TempDir()
	made, files := l.discarded("work", trash)
	l.git(l.top, "switch", "-q", "-c", "umbra/work")
	if r := l.reclaim(made, trash); len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "umbra/work") {
		t.Errorf("reclaimed: %+v", r)
	}
	l.backAgain(made, trash, files, "HEAD")
}

// TestReclaimEntryTaken gives the entry another name where its own is a worktree's.
func TestReclaimEntryTaken(t *testing.T) {
	l := reclaimLab(t)
	trash := t.TempDir()
	made, files := l.discarded("work", trash)
	other := filepath.Join(t.TempDir(), "work")
	l.git(l.top, "worktree", "add", "-q", other, "-b", "other")
	l.reclaim(made, trash)
	delete(files, ".git")
	now := contents(t, made.Workspace)
	files[".git"] = now[".git"]
	if !strings.Contains(now[".git"], "worktrees/work1") {
		t.Errorf("the link: %q", now[".git"])
	}
	l.backAgain(made, trash, files, "umbra/work")
	if got := l.git(other, "rev-parse", "--abbrev-ref", "HEAD"); got != "other" {
		t.Errorf("the other worktree is on %s", got)
	}
}

// TestReclaimRefuses where something else is in the place, and touches nothing.
func TestReclaimRefuses(t *testing.T) {
	l := reclaimLab(t)
	trash := t.TempDir()
	made, files := l.discarded("work", trash)
	if err := os.MkdirAll(made.Worktree, 0o755); err != nil {
		t.Fatal(err)
	}
	check := l.untouched()
	_, err := Reclaim(t.Context(), made.Document, trash)
	if refused := (*TargetError)(nil); !errors.As(err, &refused) || refused.Directory != made.Worktree {
		t.Errorf("in the place of another: %v", err)
	}
	equal(t, "the trash", contents(t, filepath.Join(trash, "work")), files)
	check()
}

// TestReclaimWithoutARepository brings the files back, and says what can't be.
func TestReclaimWithoutARepository(t *testing.T) {
	l := reclaimLab(t)
	trash := t.TempDir()
	made, files := l.discarded("work", trash)
	if err := os.Rename(l.top, l.top+"-moved"); err != nil {
		t.Fatal(err)
	}
	r, err := Reclaim(t.Context(), made.Document, trash)
	if err != nil || !r.Moved || len(r.Notes) != 1 {
		t.Errorf("reclaimed: %+v %v", r, err)
	}
	equal(t, "the workspace", contents(t, made.Workspace), files)
	if _, err := os.Stat(filepath.Join(trash, "work.worktree", "HEAD")); err != nil {
		t.Error(err)
	}
}
