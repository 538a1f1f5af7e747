package fork

import (
	"errors"
	"github.com/umbra-vcs/umbra/scripts/hazards"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSettingsNameAPlace: what names the source's work tree in settings that a fork
// gets too does not lead git out of it. A submodule has core.worktree where the
// worktrees share it, or after a sparse checkout in its own settings.
func TestSettingsNameAPlace(t *testing.T) {
	l := newLab(t)
	other := filepath.Join(l.base, "other")
	l.git(l.base, "init", "-q", other)
	for _, dir := range []string{"a", "b"} {
		l.write(filepath.Join("../other", dir, "f"), dir+"\n")
	}
	l.git(other, "add", ".")
	l.git(other, "commit", "-qm", "lib")
	l.git(l.top, "init", "-q", ".")
	for _, name := range []string{"plain", "own", "sparse"} {
		l.git(l.top, "submodule", "--quiet", "add", other, "libs/"+name)
	}
	l.git(l.top, "clone", "-q", other, "nested")
	l.write(".gitignore", "/nested/\n")
	l.commit("first")
	l.git(filepath.Join(l.top, "libs/own"), "config", "extensions.worktreeConfig", "true")
	l.git(filepath.Join(l.top, "libs/sparse"), "sparse-checkout", "set", "a")
	l.git(filepath.Join(l.top, "nested"), "config", "core.worktree", filepath.Join(l.top, "nested"))
	l.write("libs/sparse/a/f", "changed\n")
	naive := filepath.Join(l.base, "naive")
	l.git(filepath.Join(l.top, "libs/own"), "worktree", "add", "-q", naive)
	worksIn, _ := hazards.Git(naive, "rev-parse", "--show-toplevel")
	hazards.Shown(t, hazards.H42, worksIn != naive, "with `extensions.worktreeConfig`, git in a new worktree of a submodule works elsewhere")
	l.git(filepath.Join(l.top, "libs/own"), "worktree", "prune")
	super := l.top
	inFork := func(made *Made, below string) {
		t.Helper()
		dir := filepath.Join(made.Workspace, below)
		if got := l.git(dir, "rev-parse", "--show-toplevel"); got != dir {
			t.Errorf("%s works in %s", dir, got)
		}
		if got, want := l.git(dir, "status", "--porcelain"), l.git(filepath.Join(l.top, below), "status", "--porcelain"); got != want {
			t.Errorf("status in %s: %q, not %q", dir, got, want)
		}
	}

	made := l.fork(l.snapshot(), l.target("super"))
	for _, dir := range []string{"", "libs/plain", "libs/own", "libs/sparse", "nested"} {
		inFork(made, dir)
	}
	if len(made.Left) > 0 {
		t.Errorf("left %v", made.Left)
	}
	for _, name := range []string{"plain", "own", "sparse"} {
		l.top = filepath.Join(super, "libs", name)
		inFork(l.fork(l.snapshot(), l.target(name)), "")
	}
	l.top = filepath.Join(l.base, "bare")
	l.git(l.base, "clone", "-q", "--bare", other, "bare.git")
	l.git(filepath.Join(l.base, "bare.git"), "worktree", "add", "-q", l.top)
	l.git(l.top, "config", "extensions.worktreeConfig", "true")
	l.git(l.top, "config", "--worktree", "core.bare", "false")
	inFork(l.fork(l.snapshot(), l.target("bare")), "")
	hazards.Held(t, hazards.H42, "a fork has settings of its own, and git is run in it before it is told of")
}

// TestNestedIsProved: a copy of a nested repository in which git does not work is
// left out, and said to be.
func TestNestedIsProved(t *testing.T) {
	l := newLab(t)
	l.write("a", "a\n")
	l.initGit()
	l.git(l.top, "init", "-q", "nested")
	l.write("nested/b", "b\n")
	l.write("nested/.git/config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tfuture = yes\n")
	made := l.fork(l.snapshot(), l.target("fork"))
	if got := reasons(made.Left); !strings.HasPrefix(got["nested/.git"], reasonUnfit) {
		t.Errorf("left %v", got)
	}
	if _, err := os.Lstat(filepath.Join(made.Workspace, "nested/.git")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nested/.git is there (%v)", err)
	}
}

// TestWorktreeIsProved: a fork whose .git leads nowhere in the end is none, though
// each git that made it succeeded.
func TestWorktreeIsProved(t *testing.T) {
	for what, spoil := range map[string]string{
		"no git directory":      `echo "gitdir: /nowhere" >"$GIT_WORK_TREE/.git"`,
		"another repository":    `rm "$GIT_WORK_TREE/.git" && "$git" init -q "$GIT_WORK_TREE"`,
		"a HEAD that is no ref": `echo "ref: refs/heads/none" >"$admin/HEAD"`,
		"no common one":         `echo "../../nowhere" >"$admin/commondir"`,
	} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t)
			l.write("a", "a\n")
			l.initGit()
			src, target := l.snapshot(), l.target("fork")
			failingGit(t, "read-tree", spoil)
			if made, err := Make(t.Context(), src, target); err == nil {
				t.Errorf("made %+v", made)
			}
			l.nothingOf(what, target)
		})
	}
}

// TestGitDirectoryOfAnotherName: what .git leads to is no file of the fork's, and a
// nested repository that has its git directory in the workspace has one in the fork.
func TestGitDirectoryOfAnotherName(t *testing.T) {
	l := newLab(t)
	l.write("a", "a\n")
	l.write(".gitignore", "/ignored/\n")
	l.initGit()
	for old, name := range map[string]string{".git": ".git.nosync", "nested/.git": "aside", "ignored/n/.git": "aside"} {
		at := filepath.Join(l.top, old)
		if old != ".git" {
			l.git(l.top, "init", "-q", filepath.Dir(at))
			l.write(filepath.Join(filepath.Dir(old), "b"), "b\n")
		}
		if err := os.Rename(at, filepath.Join(filepath.Dir(at), name)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(name, at); err != nil {
			t.Fatal(err)
		}
	}
	made := l.fork(l.snapshot(), l.target("fork"))
	for _, dir := range []string{".git.nosync", "nested/aside"} {
		if _, err := os.Lstat(filepath.Join(made.Workspace, dir)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there (%v)", dir, err)
		}
	}
	for _, below := range []string{"", "nested", "ignored/n"} {
		dir := filepath.Join(made.Workspace, below)
		if got := l.git(dir, "rev-parse", "--show-toplevel"); got != dir {
			t.Errorf("%s works in %s", dir, got)
		}
	}
	if got := l.git(made.Workspace, "status", "--porcelain", "-unormal"); got != "?? nested/" {
		t.Errorf("status: %q", got)
	}
}
