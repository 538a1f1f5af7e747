package fork

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestSettingsOfACopy: what a copied repository's settings name is the fork's own, or is
// told of.
func TestSettingsOfACopy(t *testing.T) {
	l := newLab(t)
	t.Setenv("HOME", l.base)
	l.container(".bare")
	bare := filepath.Join(l.top, ".bare")
	l.write(".git", "gitdir: ./.bare\n")
	for path, content := range map[string]string{
		"hooks/pre-commit": "#!/bin/sh\n", "shared.inc": "[umbra]\n\tincluded = yes\n\tplace = " + l.top + "/main\n", "lender/f": "", "home.inc": "[umbra]\n\thome = yes\n",
		"../beside.inc": "[umbra]\n\tbeside = yes\n",
	} {
		l.write(path, content)
	}
	for _, s := range [][2]string{
		{"core.hooksPath", l.top + "/hooks"},
		{"include.path", l.top + "/shared.inc"},
		{"includeIf.onbranch:main.path", "~/source/home.inc"},
		{"include.path", "../../beside.inc"},
		{"remote.near.url", "file://" + l.top + "/lender"},
		{"remote.gone.url", l.top + "/nowhere"},
		{"remote.cloned.url", l.top + "/../seed"},
		{"umbra.empty", l.top + "/empty"},
		{"remote.far.url", "https://example.com/x.git"},
		{"core.sshCommand", "ssh -i " + l.top + "/key"},
		{"core.attributesFile", l.top + "-other/attributes"},
	} {
		l.git(bare, "config", "--add", s[0], s[1])
	}
	if err := errors.Join(os.Mkdir(filepath.Join(l.top, "empty"), 0o755),
		os.WriteFile(filepath.Join(bare, "hooks/pre-push"), []byte("#!/bin/sh\nexec "+l.top+"/tool\n"), 0o755),
		os.WriteFile(filepath.Join(bare, "hooks/pre-commit"), []byte("#!/bin/sh\nexec "+l.top+"-other/tool\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	src := l.around()
	made := l.fork(src, l.target("one"))
	main := filepath.Join(made.Worktree, "main")
	for key, want := range map[string]string{
		"core.hooksPath":      made.Worktree + "/hooks",
		"umbra.included":      "yes",
		"umbra.home":          "yes",
		"umbra.beside":        "yes",
		"remote.near.url":     "file://" + made.Worktree + "/lender",
		"remote.gone.url":     l.top + "/nowhere",
		"remote.cloned.url":   l.base + "/seed",
		"umbra.empty":         made.Worktree + "/empty",
		"remote.far.url":      "https://example.com/x.git",
		"core.attributesFile": l.top + "-other/attributes",
	} {
		if got := l.git(main, "config", key); got != want {
			t.Errorf("%s is %s, not %s", key, got, want)
		}
	}
	if got := l.git(main, "config", "--get-all", "include.path"); got != made.Worktree+"/shared.inc\n"+l.base+"/beside.inc" {
		t.Errorf("included: %s", got)
	}
	want := "The copied repository in .bare still names places of the source: core.sshcommand, hooks/pre-push, remote.gone.url, umbra.place."
	if len(made.Notes) != 2 || made.Notes[0] != want {
		t.Errorf("notes %q", made.Notes)
	}
	l.worksApart(made, "main", "deep/feature")
}

// TestSettingsOfInnerSubmodules: the git directories in a copied one have settings too.
func TestSettingsOfInnerSubmodules(t *testing.T) {
	l := newLab(t)
	l.write("lib/f", "f\n")
	lib, app := filepath.Join(l.top, "lib"), filepath.Join(l.top, "app")
	l.git(l.top, "init", "-q", "lib")
	l.git(lib, "add", ".")
	l.git(lib, "commit", "-q", "-m", "first")
	l.git(l.top, "init", "-q", "app")
	l.git(app, "submodule", "--quiet", "add", lib, "hooks/sub")
	inner := filepath.Join(app, ".git/modules/hooks/sub")
	l.git(inner, "config", "core.worktree", filepath.Join(app, "hooks/sub"))
	src := l.snapshot()
	src.Now = true
	made := l.fork(src, l.target("one"))
	copied := filepath.Join(made.Worktree, "app/.git/modules/hooks/sub/config")
	for key, want := range map[string]string{"core.worktree": "app/hooks/sub", "remote.origin.url": "lib"} {
		if got := l.git(l.base, "config", "--file", copied, key); got != filepath.Join(made.Worktree, want) {
			t.Errorf("%s is %s", key, got)
		}
	}
}

// TestStagedWhileCopied: an index is copied after the objects of its repository.
func TestStagedWhileCopied(t *testing.T) {
	l := newLab(t)
	l.container(".bare")
	l.write(".git", "gitdir: ./.bare\n")
	src, target := l.around(), l.target("one")
	main := filepath.Join(l.top, "main")
	var once sync.Once
	target.Progress = func(Progress) {
		// Its repository is there, and the index of main is not.
		if _, err := os.Stat(filepath.Join(target.Directory, ".bare/worktrees/feature")); err == nil {
			once.Do(func() {
				l.write("main/staged", "meanwhile\n")
				l.git(main, "add", "staged")
			})
		}
	}
	made := l.fork(src, target)
	if len(made.Left) != 0 {
		t.Errorf("left %+v", made.Left)
	}
	if got := l.git(filepath.Join(made.Worktree, "main"), "show", ":staged"); got != "meanwhile" {
		t.Errorf("staged: %q", got)
	}
}

// TestObjectsThatACopyLacks: a copy is told of only if it has what the source has.
func TestObjectsThatACopyLacks(t *testing.T) {
	for what, times := range map[string]int{"once": 1, "each time": 9, "in the source too": 0} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t)
			l.git(l.top, "init", "-q", "-b", "main", "app")
			app := filepath.Join(l.top, "app")
			l.write("app/f", "one\n")
			l.git(app, "add", ".")
			l.git(app, "commit", "-q", "-m", "first")
			l.git(app, "update-ref", "refs/keep", l.git(app, "rev-parse", "HEAD:f"))
			id := l.git(app, "rev-parse", "refs/keep")
			object := filepath.Join("objects", id[:2], id[2:])
			src, target := l.snapshot(), l.target("one")
			src.Now = true
			var mu sync.Mutex
			target.Progress = func(Progress) { // of several goroutines
				mu.Lock()
				defer mu.Unlock()
				found, _ := filepath.Glob(filepath.Join(target.Directory, "app/*", object))
				for _, at := range found {
					if times == 0 || errors.Is(os.Remove(at), fs.ErrNotExist) { // a copy that was just taken away
						continue
					}
					times--
				}
			}
			if times == 0 {
				if err := os.Remove(filepath.Join(app, ".git", object)); err != nil {
					t.Fatal(err)
				}
			}
			made := l.fork(src, target)
			_, err := os.Stat(filepath.Join(made.Worktree, "app/.git"))
			if what == "each time" {
				if err == nil || len(made.Left) != 1 || !strings.HasPrefix(made.Left[0].Reason, reasonUnfit) {
					t.Errorf("left %+v (%v)", made.Left, err)
				}
				return
			}
			if err != nil || len(made.Left) != 0 {
				t.Errorf("left %+v (%v)", made.Left, err)
			}
			if what == "once" {
				l.worksApart(made, "app")
			}
		})
	}
}

// TestLimitCountsARepositoryOnce: an ignored repository was counted as files, too.
func TestLimitCountsARepositoryOnce(t *testing.T) {
	counts := map[bool][2]int64{}
	for _, ignored := range []bool{false, true} {
		l := newLab(t)
		l.container(".bare")
		if ignored {
			l.write(".gitignore", "/.bare/\n")
		}
		src, target := l.around(), l.target("one")
		target.Limit, target.CopyIgnored = 1, true
		_, err := Make(t.Context(), src, target)
		limit := (*LimitError)(nil)
		if !errors.As(err, &limit) {
			t.Fatalf("ignored %v: %v", ignored, err)
		}
		counts[ignored] = [2]int64{int64(limit.Files), limit.Bytes}
	}
	if counts[false][0] < 10 || counts[false][0] != counts[true][0] {
		t.Errorf("files and bytes: %v", counts)
	}
}
