package fork

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestLinksInAGitDirectory: no link in a copy leads out of the fork, and what comes along
// has the mode it had.
func TestLinksInAGitDirectory(t *testing.T) {
	l := newLab(t)
	l.git(l.top, "init", "-q", "-b", "main", "app")
	l.write("app/scripts/check", "#!/bin/sh\n")
	app := filepath.Join(l.top, "app")
	l.git(app, "add", ".")
	l.git(app, "commit", "-q", "-m", "first")
	l.write("elsewhere/hook", "#!/bin/sh\n")
	l.write("elsewhere/settings", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
	links := map[string]string{
		"packed-refs":         filepath.Join(l.top, "elsewhere/packed-refs"), // of git-new-workdir
		"refs/later":          "../../../elsewhere/later",
		"lfs":                 filepath.Join(l.top, "elsewhere"),
		"refs/there-and-back": "../../../source/app/.git/none",
		"hooks/by-name":       "../../scripts/check",
		"hooks/by-path":       filepath.Join(l.top, "elsewhere/hook"),
		"hooks/beside":        "by-name",
		"config":              filepath.Join(l.top, "elsewhere/settings"),
	}
	git := filepath.Join(app, ".git")
	if err := os.RemoveAll(filepath.Join(git, "config")); err != nil {
		t.Fatal(err)
	}
	for at, target := range links {
		if err := os.Symlink(target, filepath.Join(git, at)); err != nil {
			t.Fatal(err)
		}
	}
	modes := map[string]os.FileMode{"app/scripts/check": 0o755, "elsewhere/hook": 0o755, "elsewhere/settings": 0o600, "app/.git/hooks": 0o750, "app/.git": 0o700}
	for path, mode := range modes {
		if err := os.Chmod(filepath.Join(l.top, path), mode); err != nil {
			t.Fatal(err)
		}
	}
	src := l.snapshot()
	src.Now = true
	made := l.fork(src, l.target("one"))
	if len(made.Left) != 0 {
		t.Errorf("left %+v", made.Left)
	}
	l.worksApart(made, "app")
	copied, kept := filepath.Join(made.Worktree, "app/.git"), map[string]string{}
	for at := range links {
		if target, err := os.Readlink(filepath.Join(copied, at)); err == nil {
			kept[at] = target
		}
	}
	if want := map[string]string{"hooks/by-name": "../../scripts/check", "hooks/beside": "by-name"}; !maps.Equal(kept, want) {
		t.Errorf("links in the copy: %v", kept)
	}
	for path, want := range map[string]os.FileMode{"": 0o700, "hooks": 0o750, "hooks/by-path": 0o755, "hooks/by-name": 0o755, "hooks/beside": 0o755, "config": 0o600} {
		if st, err := os.Stat(filepath.Join(copied, path)); err != nil || st.Mode().Perm() != want {
			t.Errorf("mode of %s: %v (%v)", path, st, err)
		}
	}
	l.git(filepath.Join(made.Worktree, "app"), "pack-refs", "--all")
	if names, err := os.ReadDir(filepath.Join(l.top, "elsewhere")); err != nil || len(names) != 2 {
		t.Errorf("git in the fork wrote into the source: %v (%v)", names, err)
	}
}

// TestGitDirectoryThatChanges: agents commit while a fork is made, and git packs what
// they left.
func TestGitDirectoryThatChanges(t *testing.T) {
	for what, meanwhile := range map[string]func(l *lab, app string, target *Target){
		"a commit and a branch": func(l *lab, app string, target *Target) {
			target.Record = func(Document) error {
				l.git(app, "switch", "-q", "-C", "later")
				l.write("app/f", "later\n")
				l.git(app, "commit", "-q", "--allow-empty", "-am", "later")
				return nil
			}
		},
		"a gc before": func(l *lab, app string, target *Target) {
			target.Record = func(Document) error { l.git(app, "gc", "-q", "--prune=now"); return nil }
		},
		"a gc amid its objects": func(l *lab, app string, target *Target) {
			var once sync.Once
			target.Progress = func(Progress) {
				names, _ := filepath.Glob(filepath.Join(target.Directory, "app", "*", "objects"))
				if len(names) == 1 {
					once.Do(func() { l.git(app, "gc", "-q", "--prune=now") })
				}
			}
		},
		"it goes": func(l *lab, app string, target *Target) {
			target.Record = func(Document) error { return os.RemoveAll(filepath.Join(app, ".git")) }
		},
	} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t)
			l.git(l.top, "init", "-q", "-b", "main", "app")
			app := filepath.Join(l.top, "app")
			for n := range 8 {
				l.write("app/f", fmt.Sprint(n))
				l.git(app, "add", ".")
				l.git(app, "commit", "-q", "-m", fmt.Sprint(n))
			}
			src, target := l.snapshot(), l.target("one")
			src.Now = true
			meanwhile(l, app, &target)
			made := l.fork(src, target)
			if what == "it goes" {
				if len(made.Left) != 1 || made.Left[0].Path != "app/.git" || !strings.HasPrefix(made.Left[0].Reason, reasonUnfit) {
					t.Errorf("left %+v", made.Left)
				}
				return
			}
			if len(made.Left) != 0 {
				t.Errorf("left %+v", made.Left)
			}
			fork := filepath.Join(made.Worktree, "app")
			if got, want := l.git(fork, "rev-parse", "HEAD"), l.git(app, "rev-parse", "HEAD"); got != want {
				t.Errorf("HEAD is %s, in the source %s", got, want)
			}
			l.git(fork, "fsck", "--connectivity-only")
		})
	}
}

// TestRepositoryThatBorrows: a copy of it would need objects of the source's.
func TestRepositoryThatBorrows(t *testing.T) {
	l := newLab(t)
	l.git(l.top, "init", "-q", "-b", "main", "lender")
	l.write("lender/f", "one\n")
	l.git(filepath.Join(l.top, "lender"), "add", ".")
	l.git(filepath.Join(l.top, "lender"), "commit", "-q", "-m", "first")
	l.git(l.top, "clone", "-q", "--shared", "lender", "app")
	outside := filepath.Join(l.base, "outside")
	l.git(l.base, "clone", "-q", "--bare", filepath.Join(l.top, "lender"), outside)
	l.git(l.top, "clone", "-q", "--shared", outside, "other")
	l.git(l.top, "clone", "-q", "--shared", "--bare", "lender", "bare.git")
	l.git(filepath.Join(l.top, "bare.git"), "worktree", "add", "-q", "../tree", "main")
	between := filepath.Join(l.base, "between")
	l.git(l.base, "clone", "-q", "--shared", "--bare", filepath.Join(l.top, "lender"), between)
	l.git(l.top, "clone", "-q", "--shared", between, "third")
	src := l.snapshot()
	src.Now = true
	made := l.fork(src, l.target("one"))
	reasons := map[string]string{}
	for _, left := range made.Left {
		reasons[left.Path] = left.Reason
	}
	want := map[string]string{"app/.git": reasonBorrows, "bare.git": reasonBorrows, "tree/.git": reasonNotAlong, "third/.git": reasonBorrows}
	if !maps.Equal(reasons, want) {
		t.Errorf("left %v", reasons)
	}
	l.worksApart(made, "lender", "other")
}

// TestRepositoryThatLends: a bare repository in the workspace that another one borrows from
// is in no snapshot, and does not come along, which is said.
func TestRepositoryThatLends(t *testing.T) {
	for _, now := range []bool{true, false} {
		l := newLab(t)
		l.write("f", "one\n")
		l.git(l.top, "init", "-q", "--bare", "mirror/lender.git")
		l.git(l.top, "clone", "-q", "--shared", "mirror/lender.git", "app")
		l.git(l.top, "init", "-q", "--bare", "fixture.git")
		src := l.snapshot()
		src.Now = now
		made := l.fork(src, l.target("one"))
		lends := slices.ContainsFunc(made.Left, func(left Left) bool { return left == Left{"mirror/lender.git", reasonLends} })
		if !lends || len(made.Left) != 2 {
			t.Errorf("left %v", made.Left)
		}
		if _, err := os.Stat(filepath.Join(made.Worktree, "fixture.git/HEAD")); err != nil {
			t.Error(err)
		}
	}
}

// TestGitDirectoryWithoutDotGit: a Git directory that --git-dir or GIT_DIR names comes
// along, and its settings lead to the fork's files, whether it is ignored or not. The
// source's worktrees stay the source's.
func TestGitDirectoryWithoutDotGit(t *testing.T) {
	for _, ignored := range []bool{false, true} {
		l := newLab(t)
		dir := filepath.Join(l.top, ".yadm")
		l.git(l.top, "init", "-q", "--bare", "-b", "main", ".yadm")
		l.git(dir, "config", "core.bare", "false")
		l.git(dir, "config", "core.worktree", l.top)
		l.write("a", "1\n")
		l.git(dir, "--git-dir", dir, "add", l.top+"/a")
		l.git(dir, "--git-dir", dir, "commit", "-q", "-m", "first")
		l.git(dir, "--git-dir", dir, "worktree", "add", "-q", filepath.Join(l.base, "beside"))
		if ignored {
			l.write(".gitignore", ".yadm\n")
		}
		users := filepath.Join(l.base, "config of the user's")
		written, err := os.ReadFile(filepath.Join(dir, "config"))
		if err := errors.Join(err, os.Rename(filepath.Join(dir, "config"), users), os.Symlink(users, filepath.Join(dir, "config"))); err != nil {
			t.Fatal(err)
		}
		now := l.snapshot()
		past := now
		past.Now = false
		for name, src := range map[string]Source{"now": now, "past": past} {
			made := l.fork(src, l.target(name))
			if len(made.Left) != 0 {
				t.Errorf("ignored %v, %s: left %+v", ignored, name, made.Left)
			}
			at := filepath.Join(made.Worktree, ".yadm")
			if top := l.git(made.Worktree, "--git-dir", at, "rev-parse", "--show-toplevel"); top != made.Worktree {
				t.Errorf("ignored %v, %s: git works in %s", ignored, name, top)
			}
			if trees := l.git(made.Worktree, "--git-dir", at, "worktree", "list"); strings.Contains(trees, "beside") {
				t.Errorf("ignored %v, %s: worktrees %s", ignored, name, trees)
			}
		}
		if after, err := os.ReadFile(users); err != nil || !bytes.Equal(after, written) {
			t.Errorf("ignored %v: the settings that a link leads to are %q, were %q", ignored, after, written)
		}
		skip := l.target("skip")
		skip.CopyIgnored = false
		if made := l.fork(now, skip); contents(t, made.Worktree)[".yadm/HEAD"] != "" {
			t.Error("it comes along where nothing ignored was asked for")
		}
	}
}
