package capture

import (
	"os"
	"testing"
)

func TestFilter(t *testing.T) {
	l := newLab(t, Settings{})
	l.gitInit()
	l.write(".gitignore", "node_modules/\nbuild/\ndist\n*.d/\n")
	l.write(".umbraignore", "!build/keep/\nmine/\n")
	l.write("src/.gitignore", "gen/\n")
	l.write("dist/tracked/f", "f")
	l.write("dist/not/f", "f")
	l.write("a", "a")
	l.git(l.root, "add", "-f", "dist/tracked/f", "a")
	l.git(l.root, "commit", "-qm", "one")
	l.git(l.root, "worktree", "add", "-q", "--detach", "tree")
	l.write("nested/sub.d/f", "f")
	l.git(l.path("nested"), "init", "-q", ".")
	f := NewFilter(l.refresh(), Known{})
	for dir, want := range map[string]bool{
		"src": false, "src/deep/er": false, "node_modules": true, "node_modules/x/y": true, "sub/node_modules": true,
		"build": false, "build/keep": false, "build/keep/x": false, "build/other": true, "mine": true,
		"src/gen": true, "gen": false, "dist": false, "dist/tracked": false, "dist/not": true, ".git": true, ".git/objects": true,
		"sub/.git": true, "x/.GIT": true, "tree": true, "tree/x": true, "nested": false, "nested/sub.d": false, "sub.d": true,
		"not/there/yet": false,
	} {
		if got := f.Ignored(dir); got != want {
			t.Errorf("Ignored(%q) = %v", dir, got)
		}
	}
	l.write("src/.gitignore", "")
	if f.Ignored("src/gen") {
		t.Error("the ignore file was not read again")
	}
}

func TestRulesChanged(t *testing.T) {
	l := newLab(t, Settings{})
	l.gitInit()
	l.write("a", "a")
	l.write("d/b", "b")
	l.write("dist/x", "x")
	l.write(".gitignore", "dist/\n")
	check := func(what string, r *Result, want bool) {
		t.Helper()
		if r.RulesChanged != want {
			t.Errorf("%s: RulesChanged is %v", what, r.RulesChanged)
		}
	}
	check("the first", l.walk(), true)
	check("the second", l.walk(), false)
	l.write("d/b", "c")
	check("an edit", l.paths("d/b"), false)
	l.write("d/.gitignore", "*.o\n")
	check("an ignore file", l.paths("d/.gitignore"), true)
	l.git(l.root, "add", "a", "d/b")
	check("git add", l.paths(), false)
	l.git(l.root, "add", "-f", "dist/x")
	check("git add -f", l.paths(), true)
	l.must(os.WriteFile(l.sources.Excludes, []byte("tmp/\n"), 0o644))
	check("excludes", l.paths(), true)
	l.must(os.RemoveAll(l.path("d")))
	check("removed", l.paths("d"), false)
	check("nothing", l.paths(), false)
}
