package fork

import (
	"maps"
	"os"
	"path/filepath"
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
