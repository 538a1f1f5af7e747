package capture

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

func TestNestedRepositories(t *testing.T) {
	l := newLab(t, Settings{})
	l.gitInit()
	l.write(".gitignore", "*.o\nnode_modules/\n")
	l.write("a", "a")
	l.git(l.root, "add", "a")
	l.git(l.root, "commit", "-qm", "one")

	// An unborn repository, whose own rules alone count inside.
	l.write("born-not/x.o", "kept")
	l.write("born-not/.gitignore", "*.tmp\n")
	l.write("born-not/x.tmp", "ignored")
	l.git(l.path("born-not"), "init", "-q", ".")
	// A linked worktree of the same repository, and one of another's.
	l.git(l.root, "worktree", "add", "-q", "--detach", "tree")
	other := filepath.Join(l.home, "other")
	l.git(l.home, "init", "-q", other)
	l.git(other, "commit", "-q", "--allow-empty", "-m", "o")
	l.git(other, "worktree", "add", "-q", "--detach", l.path("foreign"))
	l.write("foreign/f", "foreign")
	// A submodule: its .git is a file too, but leads to no common directory.
	l.must(os.MkdirAll(l.path("sub"), 0o755))
	l.must(os.MkdirAll(l.path(".git/modules"), 0o755))
	l.git(l.root, "init", "-q", "--separate-git-dir", l.path(".git/modules/sub"), "sub")
	l.write("sub/s", "sub")
	// .git files and directories that lead nowhere make no repository.
	l.write("broken/.git", "gitdir: /nowhere\n")
	l.write("broken/x.o", "ignored")
	l.write("loop/.git", "gitdir: loop\n")
	l.must(os.Symlink("loop", l.path("loop/loop")))
	l.write("hollow/.git/HEAD", "ref: refs/heads/main\n")
	l.write("hollow/x.o", "ignored")
	l.write("hollow/y", "kept")
	// Ignored as a whole.
	l.write("node_modules/dep/x", "ignored")
	l.git(l.path("node_modules/dep"), "init", "-q", ".")

	want := map[string]string{
		".gitignore": "*.o\nnode_modules/\n", "a": "a",
		"born-not/x.o": "kept", "born-not/.gitignore": "*.tmp\n", "foreign/f": "foreign", "sub/s": "sub", "hollow/y": "kept", "loop/loop": "loop",
	}
	r := l.walk()
	l.wantFiles(r, want)
	if want := []documents.Skipped{{Path: "tree", Reason: documents.ReasonWorktree}}; !reflect.DeepEqual(withoutTimes(r.Skipped), want) {
		t.Errorf("skipped %v", r.Skipped)
	}
	l.checkGitDirs(t)

	// What makes it a repository vanishes: the rules around it count again, for what
	// is new.
	l.must(os.RemoveAll(l.path("born-not/.git")))
	l.write("born-not/y.o", "ignored")
	l.wantFiles(l.paths("born-not/.git", "born-not/y.o"), want)
}

// TestUnreadIndexLeavesNothingOut: what is captured only for being tracked stays
// captured while the index of its repository can't be read, in this process and in
// the next, and nothing that is ignored comes in.
func TestUnreadIndexLeavesNothingOut(t *testing.T) {
	l := newLab(t, Settings{})
	l.gitInit()
	l.write(".gitignore", "*.log\n")
	for _, dir := range []string{".", "nested"} {
		l.must(os.MkdirAll(l.path(dir), 0o755))
		if dir != "." {
			l.git(l.path(dir), "init", "-q", ".")
			l.write("nested/.gitignore", "*.log\n")
		}
		l.write(dir+"/kept.log", "tracked")
		l.write(dir+"/.env", "tracked secret")
		l.git(l.path(dir), "add", "-f", "kept.log", ".env")
	}
	want := map[string]string{
		".gitignore": "*.log\n", "kept.log": "tracked", ".env": "tracked secret",
		"nested/.gitignore": "*.log\n", "nested/kept.log": "tracked", "nested/.env": "tracked secret",
	}
	newest := l.walk()
	l.wantFiles(newest, want)
	l.sources.Newest = func() ([]byte, error) { return newest.Rules, nil }
	l.write("left.log", "ignored")
	l.write("nested/left.log", "ignored")
	for _, repo := range []string{".git", "nested/.git"} {
		index := repo + "/index"
		good, err := os.ReadFile(l.path(index))
		l.must(err)
		for _, bad := range [][]byte{[]byte("garbage, and long enough to be an index of something"), good[:40], nil} {
			l.must(os.WriteFile(l.path(index), bad, 0o644))
			l.wantFiles(l.walk(), want)
			l.rules, l.scanner = nil, l.newScanner()
			l.wantFiles(l.walk(), want)
			newest = l.walk()
		}
		l.must(os.WriteFile(l.path(index), good, 0o644))
		l.wantFiles(l.walk(), want)
	}
}

// checkGitDirs looks that no .git was renamed or left (H16).
func (l *lab) checkGitDirs(t *testing.T) {
	t.Helper()
	for _, path := range []string{".git/HEAD", "born-not/.git/HEAD", "tree/.git", "foreign/.git", "sub/.git", "broken/.git"} {
		if _, err := os.Lstat(l.path(path)); err != nil {
			t.Error(err)
		}
	}
}

func TestNestedRulesChangeOutsideTheWorkspacesSight(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("n/a.log", "log")
	l.write("n/b", "b")
	l.git(l.path("n"), "init", "-q", ".")
	l.wantFiles(l.walk(), map[string]string{"n/a.log": "log", "n/b": "b"})
	l.must(os.WriteFile(l.path("n/.git/info/exclude"), []byte("*.log\n"), 0o644))
	l.write("n/c.log", "log")
	l.wantFiles(l.paths("n/c.log"), map[string]string{"n/a.log": "log", "n/b": "b"})
	l.git(l.path("n"), "add", "-f", "c.log")
	l.wantFiles(l.paths(), map[string]string{"n/a.log": "log", "n/b": "b", "n/c.log": "log"})
}

func TestTrackedAlthoughIgnored(t *testing.T) {
	l := newLab(t, Settings{})
	l.gitInit()
	l.write(".gitignore", "dist/\n*.log\n.umbraignore\n")
	l.write("dist/a/b", "tracked")
	l.write("dist/a/c", "ignored")
	l.write("x.log", "tracked")
	l.write(".env", "tracked")
	l.write("by-umbra", "tracked")
	l.git(l.root, "add", "-f", "dist/a/b", "x.log", ".env", "by-umbra")
	l.write(".umbraignore", "by-umbra\n")
	want := map[string]string{
		".gitignore": "dist/\n*.log\n.umbraignore\n", "dist/a/b": "tracked", "x.log": "tracked", ".env": "tracked",
	}
	r := l.walk()
	l.wantFiles(r, want)
	l.git(l.root, "rm", "-q", "--cached", "dist/a/b", ".env")
	r = l.paths()
	l.wantFiles(r, want)
	if r.Walked {
		t.Error("a change of the index was walked")
	}
	if len(r.Skipped) > 0 {
		t.Errorf("skipped %v", r.Skipped)
	}
	l.git(l.root, "add", "-f", "dist/a/c")
	want["dist/a/c"] = "ignored"
	l.wantFiles(l.paths(), want)
}

func TestRepositoriesOfEveryKind(t *testing.T) {
	for name, arguments := range map[string][]string{
		"sha256": {"init", "-q", "--object-format=sha256", "."},
		"split":  {"-c", "core.splitIndex=true", "init", "-q", "."},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, Settings{})
			l.git(l.root, arguments...)
			repo, err := usergit.At(l.root)
			l.must(err)
			l.sources.Repository = repo
			l.write(".gitignore", "*.log\n")
			l.write("a.log", "tracked")
			l.write("b.log", "ignored")
			l.write("c", "c")
			l.git(l.root, "-c", "core.splitIndex="+fmt.Sprint(name == "split"), "add", "-f", "a.log", "c")
			l.git(l.root, "update-index", "--assume-unchanged", "c")
			l.write("c", "changed")
			want := map[string]string{".gitignore": "*.log\n", "a.log": "tracked", "c": "changed"}
			l.wantFiles(l.walk(), want)
			l.must(os.RemoveAll(l.path(".git")))
			l.write("d.log", "not tracked any more")
			l.git(l.root, "init", "-q", ".")
			l.wantFiles(l.paths("d.log"), want)
		})
	}
}

func TestUmbraignore(t *testing.T) {
	l := newLab(t, Settings{})
	l.gitInit()
	l.write(".gitignore", "*.sqlite\nbuild/\n")
	l.write(".umbraignore", "!dev.sqlite\n!build/keep/\nbig\n")
	l.write("dev.sqlite", "kept")
	l.write("sub/dev.sqlite", "kept")
	l.write("other.sqlite", "ignored")
	l.write("build/keep/a", "kept")
	l.write("build/drop", "ignored")
	l.write("big", "left out")
	want := map[string]string{
		".gitignore": "*.sqlite\nbuild/\n", ".umbraignore": "!dev.sqlite\n!build/keep/\nbig\n",
		"dev.sqlite": "kept", "sub/dev.sqlite": "kept", "build/keep/a": "kept",
	}
	l.wantFiles(l.walk(), want)
	l.write(".umbraignore", "")
	l.write("new/dev.sqlite", "not kept")
	want[".umbraignore"], want["big"] = "", "left out"
	l.wantFiles(l.paths(".umbraignore", "new/dev.sqlite"), want)
}

// TestWorkspaceBelowTheTopLevel: the rules above count, the siblings do not
// exist (H10).
func TestWorkspaceBelowTheTopLevel(t *testing.T) {
	l := newLab(t, Settings{})
	l.gitInit()
	l.write(".gitignore", "*.o\n/only-top\npkg/mid/gone\n")
	l.write("pkg/.gitignore", "!keep.o\n")
	l.write("pkg/.umbraignore", "umbra\n")
	l.write(".git/info/exclude", "excluded\n")
	for _, name := range []string{"x.o", "keep.o", "only-top", "gone", "umbra", "excluded", "f"} {
		l.write("pkg/mid/"+name, name)
	}
	l.write("sibling", "not ours")
	l.sources.Root = l.path("pkg/mid")
	l.root = l.sources.Root
	l.scanner = l.newScanner()
	r := l.walk()
	l.wantFiles(r, map[string]string{"keep.o": "keep.o", "only-top": "only-top", "f": "f"})
	if l.recorded(r).IgnoresWorkspace() {
		t.Error("the workspace is not ignored")
	}
	l.must(os.WriteFile(filepath.Join(l.root, "..", "..", ".gitignore"), []byte("mid/\n"), 0o644))
	l.write("new", "ignored")
	l.wantFiles(l.paths("new"), l.files(r))
	l.scanner = l.newScanner()
	if r := l.walk(); len(l.files(r)) > 0 || !l.recorded(r).IgnoresWorkspace() {
		t.Errorf("got %q", l.files(r))
	}
}

// TestFiltersAreNeverRun: bytes exactly as on disk, whatever the repository is
// configured to do with them (H21), and the repository as it was (I5).
func TestFiltersAreNeverRun(t *testing.T) {
	l := newLab(t, Settings{})
	l.gitInit()
	ran := filepath.Join(l.home, "filter-ran")
	for _, kv := range [][2]string{
		{"core.autocrlf", "true"}, {"core.eol", "crlf"}, {"filter.x.clean", "touch " + ran + "; false"},
		{"filter.x.smudge", "touch " + ran}, {"filter.x.process", "touch " + ran}, {"filter.x.required", "true"},
		{"core.fsmonitor", "touch " + ran}, {"core.hooksPath", l.home},
	} {
		l.git(l.root, "config", kv[0], kv[1])
	}
	want := map[string]string{
		".gitattributes": "* text=auto eol=crlf\n*.x filter=x ident working-tree-encoding=UTF-16\n",
		"crlf":           "a\r\nb\r\n", "mixed": "a\r\nb\nc\r", "lf": "a\nb\n", "f.x": "$Id$\r\n\x00",
	}
	for name, content := range want {
		l.write(name, content)
	}
	before := l.gitState(t)
	r := l.walk()
	l.wantFiles(r, want)
	if _, err := os.Stat(ran); err == nil {
		t.Error("a filter was run")
	}
	if after := l.gitState(t); !reflect.DeepEqual(before, after) {
		t.Errorf("the repository was %v, is %v", before, after)
	}
	if got := l.oracle(); got != r.Tree {
		t.Errorf("tree %s, git says %s", r.Tree, got)
	}
}

// gitState is what is in the user's .git.
func (l *lab) gitState(t *testing.T) map[string]string {
	t.Helper()
	state := map[string]string{}
	l.must(filepath.WalkDir(l.path(".git"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		info, statErr := d.Info()
		l.must(statErr)
		state[path] = info.ModTime().String() + string(content)
		return err
	}))
	return state
}

// TestUnreadable drops its privileges in a child: root reads everything.
func TestUnreadable(t *testing.T) {
	if os.Getenv("UMBRA_TEST_UNREADABLE") != "" {
		testUnreadable(t)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestUnreadable$", "-test.v")
	cmd.Env = append(os.Environ(), "UMBRA_TEST_UNREADABLE=1")
	if os.Geteuid() == 0 {
		// A directory of the child's own, and a copy of the program that it
		// may run.
		dir, err := os.MkdirTemp("/tmp", "umbra-unreadable-")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		program, err := os.ReadFile(exe)
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(dir, "test")
		if err := os.WriteFile(copied, program, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		cmd.Path, cmd.Dir = copied, dir
		cmd.Env = append(cmd.Env, "TMPDIR="+dir)
		cmd.SysProcAttr = unprivileged()
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestUnreadable") {
		t.Errorf("%v\n%s", err, out)
	}
}

func testUnreadable(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("a", "a")
	l.write("file", "x")
	l.write("closed/x", "x")
	l.write("listed/x", "x")
	want := map[string]string{"a": "a", "file": "x", "closed/x": "x", "listed/x": "x"}
	l.wantFiles(l.walk(), want)
	l.must(os.Chmod(l.path("file"), 0))
	l.must(os.Chmod(l.path("closed"), 0))
	l.must(os.Chmod(l.path("listed"), 0o400))
	r := l.walk()
	l.wantFiles(r, map[string]string{"a": "a"})
	unreadable := []documents.Skipped{
		{Path: "closed", Reason: documents.ReasonUnreadable}, {Path: "file", Reason: documents.ReasonUnreadable}, {Path: "listed/x", Reason: documents.ReasonUnreadable},
	}
	if !reflect.DeepEqual(withoutTimes(r.Skipped), unreadable) {
		t.Errorf("skipped %v", r.Skipped)
	}
	for path, mode := range map[string]os.FileMode{"file": 0o644, "closed": 0o755, "listed": 0o755} {
		l.must(os.Chmod(l.path(path), mode))
	}
	l.wantFiles(l.walk(), want)
	l.must(os.Chmod(l.root, 0))
	defer os.Chmod(l.root, 0o755)
	if _, err := l.try(Dirty{All: true}, Options{}); err == nil {
		t.Error("an unreadable workspace was captured")
	}
}
