package capture

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/documents"
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
		"borrowed from a repository": func(l *lab) {
			l.git(l.root, "clone", "-q", "--mirror", ".", "all/mirror")
			l.write(".git/objects/info/alternates", "../../all/mirror/objects\n")
		},
		"borrowed from a directory, by a borrowed one": func(l *lab) {
			l.git(l.root, "init", "-q", "--bare", "all/mirror")
			l.must(os.CopyFS(l.path("deep/objects"), os.DirFS(l.path(".git/objects"))))
			l.write("all/mirror/objects/info/alternates", l.path("deep/objects")+"\n")
			l.write(".git/objects/info/alternates", l.path("all/mirror/objects")+"\n")
		},
		"borrowed by a nested repository": func(l *lab) {
			l.git(l.root, "clone", "-q", "--bare", ".", "zzz")
			l.git(l.root, "clone", "-q", "--shared", "zzz", "nested")
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

// TestRepositoryThatBeginsToBorrow: from then on the lender is no file.
func TestRepositoryThatBeginsToBorrow(t *testing.T) {
	l := newLab(t, Settings{})
	l.gitInit()
	l.git(l.root, "init", "-q", "nested")
	l.git(l.root, "init", "-q", "--bare", "one.git")
	l.git(l.root, "init", "-q", "--bare", "two.git")
	repo, err := usergit.Discover(l.root)
	l.must(err)
	l.rules, err = LoadRules(Sources{Root: l.root, Repository: repo})
	l.must(err)
	before := l.walk()
	for _, lender := range []string{"one.git/HEAD", "two.git/HEAD"} {
		if _, ok := l.files(before)[lender]; !ok {
			t.Errorf("%s is not captured before anything borrows from there", lender)
		}
	}
	l.scanner.Accept(before)
	l.write(".git/objects/info/alternates", "../../one.git/objects\n")
	l.write("nested/.git/objects/info/alternates", "../../../two.git/objects\n")
	l.rules, err = l.rules.Refresh()
	l.must(err)
	after := l.walk()
	for path := range l.files(after) {
		t.Errorf("captured %s", path)
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

// TestWorkTreesInABareClone: of a bare clone with its work trees inside, all is files but what
// is Git's, whether it is the workspace or lies in it, also when the last of them is gone,
// which Git then has no trace of.
func TestWorkTreesInABareClone(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"", "deep/app.git"} {
		l := newLab(t, Settings{})
		source := t.TempDir()
		l.git(source, "init", "-q", "-b", "main")
		l.git(source, "commit", "-q", "--allow-empty", "-m", "one")
		l.git(l.root, "clone", "-q", "--bare", source, l.path(at))
		under := func(name string) string { return strings.TrimPrefix(at+"/"+name, "/") }
		add := func(name string) {
			l.git(l.path(at), "worktree", "add", "-q", "-b", name, name)
			l.write(under(name)+"/a", name)
		}
		first := l.walk()
		if _, ok := l.files(first)[under("HEAD")]; ok != (at != "") {
			t.Errorf("%q without a work tree: HEAD captured %v", at, ok)
		}
		l.scanner.Accept(first)
		add("main2")
		add("feature/x")
		want := map[string]string{under("main2/a"): "main2", under("feature/x/a"): "feature/x"}
		l.wantFiles(l.walk(), want)
		l.git(l.path(under("main2")), "commit", "-q", "--allow-empty", "-m", "two")
		l.write(under("main2/b"), "b")
		l.write(under("feature/beside"), "no work tree's")
		want[under("main2/b")], want[under("feature/beside")] = "b", "no work tree's"
		l.wantFiles(l.paths(under("HEAD"), under("refs/heads/main2"), under("objects/new"), under("main2/b"), under("feature/beside")), want)
		add("later")
		want[under("later/a")] = "later"
		l.wantFiles(l.paths(under("worktrees/later"), under("later")), want)
		for _, tree := range []string{"main2", "feature/x", "later"} {
			l.git(l.path(at), "worktree", "remove", "--force", tree)
		}
		l.write(under("FETCH_HEAD"), "")
		l.write(under("config.lock"), "")
		want = map[string]string{under("feature/beside"): "no work tree's"}
		gone := l.paths(under("worktrees"), under("main2"), under("feature/x"), under("later"), under("FETCH_HEAD"), under("config.lock"))
		l.wantFiles(gone, want)
		l.scanner.Accept(gone)
		l.wantFiles(l.paths(under("HEAD"), under("refs/heads/main2")), want)
		l.wantFiles(l.walk(), want)
		l.scanner = NewScanner(l.scanner.workspace)
		l.wantFiles(l.capture(Dirty{All: true}, Options{Held: NewHeld(nil).LeavingOut(documents.NewSkippedSet(gone.Skipped))}), want)
		l.scanner = l.newScanner()
		l.scanner.Accept(l.capture(Dirty{All: true}, Options{Held: NewHeld(nil).LeavingOut(documents.NewSkippedSet(gone.Skipped))}))
		if at != "" {
			l.must(os.Rename(l.path("deep"), l.path("moved")))
			at = "moved/app.git"
			l.wantFiles(l.paths("deep", "moved"), map[string]string{under("feature/beside"): "no work tree's"})
			l.must(os.Rename(l.path("moved"), l.path("deep")))
			at = "deep/app.git"
		}
		l.write(under("main2/a"), "put back")
		want[under("main2/a")] = "put back"
		l.wantFiles(l.paths(under("main2/a"), "deep", "moved"), want)
	}
}

// TestWorkTreesAnywhereInABareClone: a work tree is files also where Git keeps things of its
// own, and where somebody has moved it by hand, so that Git has its old place.
func TestWorkTreesAnywhereInABareClone(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"", "deep/app.git"} {
		l := newLab(t, Settings{})
		source := t.TempDir()
		l.git(source, "init", "-q", "-b", "trunk")
		l.git(source, "commit", "-q", "--allow-empty", "-m", "one")
		l.git(l.root, "clone", "-q", "--bare", source, l.path(at))
		under := func(name string) string { return strings.TrimPrefix(at+"/"+name, "/") }
		want := map[string]string{}
		for _, name := range []string{"branches/x", "hooks/fix/deep", "logs/y", "main"} {
			l.git(l.path(at), "worktree", "add", "-q", "-b", "for-"+strings.ReplaceAll(name, "/", "-"), name)
			l.write(under(name)+"/a", name)
			want[under(name+"/a")] = name
		}
		l.write(under("branches/y"), "Git's")
		l.wantFiles(l.walk(), want)
		for from, to := range map[string]string{"main": "moved", "branches/x": "branches/moved"} {
			l.must(os.Rename(l.path(under(from)), l.path(under(to))))
			want[under(to+"/a")] = want[under(from+"/a")]
			delete(want, under(from+"/a"))
		}
		l.wantFiles(l.walk(), want)
		for _, place := range []string{"branches/moved/k", "moved/k"} {
			if inGitDirectory(l.path(under(place))) {
				t.Errorf("%s is refused", place)
			}
		}
		if !inGitDirectory(l.path(under("branches/k"))) {
			t.Error("branches/k is not refused")
		}
	}
}

// TestFixtureInTheRoot: what has a git directory's names in the workspace itself is files if
// the user's repository tracks it, has a .git beside it, or no git directory is there at all.
func TestFixtureInTheRoot(t *testing.T) {
	t.Parallel()
	names := []string{"HEAD", "config", "description", "hooks/h", "index", "info/i", "logs/l", "modules/m", "objects/a", "refs/a"}
	for what, c := range map[string]struct{ before, after func(l *lab) }{
		"no repository": {},
		"not tracked":   {before: (*lab).gitInit},
		"tracked":       {(*lab).gitInit, func(l *lab) { l.git(l.root, "add", "-f", ".") }},
		"tracked, and with work trees": {func(l *lab) {
			l.git(l.root, "init", "-q", "--bare", ".")
			tree := strings.TrimSpace(string(l.git(l.root, "hash-object", "-w", "-t", "tree", "/dev/null")))
			commit := strings.TrimSpace(string(l.git(l.root, "commit-tree", tree, "-m", "one")))
			l.git(l.root, "worktree", "add", "-q", "w", commit)
			l.gitInit()
		}, func(l *lab) { l.git(l.root, "add", "-f", "HEAD", "config") }},
	} {
		l := newLab(t, Settings{})
		if c.before != nil {
			c.before(l)
		}
		for _, name := range names {
			if _, err := os.Lstat(l.path(name)); err != nil {
				l.write(name, "")
			}
		}
		if c.after != nil {
			c.after(l)
		}
		if repo, err := usergit.Discover(l.root); err == nil {
			l.rules, err = LoadRules(Sources{Root: l.root, Repository: repo})
			l.must(err)
		}
		for _, take := range []func() *Result{l.walk, func() *Result { return l.paths("config", "HEAD") }} {
			r := take()
			for _, name := range names {
				if _, ok := l.files(r)[name]; !ok {
					t.Errorf("%s: %s is not captured", what, name)
				}
			}
			l.scanner.Accept(r)
		}
	}
}

// TestFixtureAsWorkspace: a bare repository that the repository around it tracks is files
// also for a mission in it. Of another one, what is tracked there is, but for the branches.
func TestFixtureAsWorkspace(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		tracked    []string
		head, hook bool
	}{
		"all":      {[]string{"."}, true, true},
		"a hook":   {[]string{"hooks/h"}, false, true},
		"nothing":  {nil, false, false},
		"a branch": {[]string{"refs"}, true, true},
	} {
		l := newLab(t, Settings{})
		around := l.root
		l.gitInit()
		l.root = l.path("fixture.git")
		l.git(around, "init", "-q", "--bare", l.root)
		l.write("hooks/h", "")
		l.write("refs/heads/main", "")
		l.write("a", "a")
		for _, path := range c.tracked {
			l.git(around, "add", "-f", "fixture.git/"+path)
		}
		l.scanner = l.newScanner()
		repo, err := usergit.Discover(l.root)
		l.must(err)
		l.rules, err = LoadRules(Sources{Root: l.root, Repository: repo})
		l.must(err)
		files := l.files(l.walk())
		_, head := files["HEAD"]
		_, hook := files["hooks/h"]
		if head != c.head || hook != c.hook || files["a"] != "a" {
			t.Errorf("%s tracked: HEAD captured %v, a hook %v, a file of another name %q", what, head, hook, files["a"])
		}
	}
}

// TestRootThatGetsAGitOfItsOwn: a .git that is made in a bare clone makes no files of its
// branches.
func TestRootThatGetsAGitOfItsOwn(t *testing.T) {
	t.Parallel()
	l := newLab(t, Settings{})
	l.git(l.root, "init", "-q", "--bare", ".")
	l.write("a", "a")
	want := map[string]string{"a": "a"}
	l.must(os.Mkdir(l.path(".git"), 0o700)) // Git takes it for nothing
	r := l.walk()
	l.wantFiles(r, want)
	l.scanner.Accept(r)
	l.must(os.Remove(l.path(".git")))
	l.gitInit()
	l.wantFiles(l.paths(".git", "HEAD"), want)
	l.scanner = NewScanner(l.scanner.workspace)
	l.wantFiles(l.capture(Dirty{All: true}, Options{Held: NewHeld(nil).LeavingOut(documents.NewSkippedSet(r.Skipped))}), want)
}

// TestWayBySeveralSpellings: a work tree lies in a git directory whatever its path is.
func TestWayBySeveralSpellings(t *testing.T) {
	t.Parallel()
	l := newLab(t, Settings{})
	l.write("real/app.git/feature/x/a", "")
	l.must(os.Symlink("real", l.path("other")))
	if inside, ok := pathInside(l.path("other/app.git"), l.path("real/app.git/feature/x")); inside != "feature/x" || !ok {
		t.Errorf("%q, %v", inside, ok)
	}
	if inside, ok := pathInside(l.path("real/app.git/feature"), l.path("real/app.git")); ok {
		t.Errorf("%q is below itself", inside)
	}
}
