package capture

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// TestGitDirectoriesOfAnyName: a directory that Git uses for a work tree is never
// captured, whatever its name and wherever it lies. A bare repository that no work
// tree uses is files.
func TestGitDirectoriesOfAnyName(t *testing.T) {
	for what, lay := range map[string]func(l *lab){
		"a link": func(l *lab) {
			l.must(os.Rename(l.path(".git"), l.path(".git.nosync")))
			l.must(os.Symlink(".git.nosync", l.path(".git")))
		},
		"a file": func(l *lab) {
			l.must(os.Rename(l.path(".git"), l.path("deep/.bare")))
			l.write(".git", "gitdir: ./deep/.bare\n")
		},
		"linked objects": func(l *lab) {
			l.must(os.Rename(l.path(".git/objects"), l.path("deep/objects")))
			l.must(os.Symlink("../deep/objects", l.path(".git/objects")))
		},
		"nested, before and after what uses it": func(l *lab) {
			l.git(l.root, "init", "-q", "--separate-git-dir", l.path("aaa"), "nested")
			l.git(l.root, "init", "-q", "--separate-git-dir", l.path("zzz"), "nested/more")
		},
		"worktrees beside": func(l *lab) {
			l.git(l.root, "clone", "-q", "--bare", ".", "all/.bare")
			l.git(l.path("all/.bare"), "worktree", "add", "-q", l.path("all/tree"), "-b", "tree")
			l.git(l.path("all/.bare"), "worktree", "add", "-q", l.path("all/.bare/inside"), "-b", "inside")
		},
	} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t, Settings{})
			l.gitInit()
			l.write("deep/a", "a")
			l.git(l.root, "add", ".")
			l.git(l.root, "commit", "-qm", "one")
			l.git(l.root, "clone", "-q", "--bare", ".", "fixture.git")
			lay(l)
			repo, err := usergit.Discover(l.root)
			l.must(err)
			l.rules, err = LoadRules(Sources{Root: l.root, Repository: repo})
			l.must(err)
			for range 2 {
				r := l.walk()
				files := l.files(r)
				if _, ok := files["fixture.git/HEAD"]; !ok || files["deep/a"] != "a" {
					t.Error("the fixture or a file is not captured")
				}
				for path := range files {
					if strings.HasPrefix(path, "fixture.git/") {
						continue
					}
					if slices.ContainsFunc([]string{"HEAD", "objects", "refs", "info"}, func(part string) bool {
						return slices.Contains(strings.Split(path, "/"), part)
					}) {
						t.Errorf("captured %s", path)
					}
				}
				l.scanner.Accept(r)
			}
		})
	}
}

// TestGitDirectoryMovedAside: a nested .git that becomes a link leads to the same
// directory, which has a name of its own by now.
func TestGitDirectoryMovedAside(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("nested/a", "a")
	l.git(l.path("nested"), "init", "-q", ".")
	l.wantFiles(l.walk(), map[string]string{"nested/a": "a"})
	l.must(os.Rename(l.path("nested/.git"), l.path("nested/aside")))
	l.must(os.Symlink("aside", l.path("nested/.git")))
	r := l.paths("nested/aside", "nested/.git")
	for path := range l.files(r) {
		if strings.HasPrefix(path, "nested/aside/") {
			t.Errorf("captured %s", path)
		}
	}
}
