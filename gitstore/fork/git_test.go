package fork

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestHeadGone(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "one\n")
	l.initGit()
	base := l.git(l.top, "rev-parse", "HEAD")
	l.write("a.txt", "two\n")
	l.commit("second")
	l.write("b.txt", "staged then lost\n")
	l.git(l.top, "add", "b.txt")
	l.write("a.txt", "three\n")
	src := l.snapshot()
	src.Now = false
	l.git(l.top, "reset", "-q", "--hard", base)
	l.git(l.top, "reflog", "expire", "--expire=now", "--all")
	l.git(l.top, "gc", "-q", "--prune=now")
	if _, err := tryGit(l.top, "cat-file", "-e", src.Head); err == nil {
		t.Fatal("the commit is still there")
	}
	check := l.untouched()
	made := l.fork(src, l.target("gone"))
	check()
	if !made.Fallback || made.Head != base || len(made.Notes) != 1 {
		t.Errorf("made %+v", made)
	}
	equal(t, "files", contents(t, made.Workspace, ".git"), map[string]string{
		"a.txt": "-rw-r--r-- three\n", "b.txt": "-rw-r--r-- staged then lost\n",
	})
	if got := l.git(made.Worktree, "status", "--porcelain"); got != " M a.txt\nA  b.txt" {
		t.Errorf("status: %q", got)
	}
	if got := l.git(made.Worktree, "show", ":b.txt"); got != "staged then lost" {
		t.Errorf("staged: %q", got)
	}
}

func TestNothingOfHeadSurvives(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "one\n")
	l.initGit()
	src := l.snapshot()
	src.Head, src.Ancestors = strings.Repeat("1", 40), []string{strings.Repeat("2", 40)}
	made := l.fork(src, l.target("none"))
	if !made.Fallback || made.Branch != "" || made.Document.CommonDir != "" {
		t.Errorf("made %+v", made)
	}
	l.same(made)
}

func TestUnbornAndPlain(t *testing.T) {
	for _, kind := range []string{"plain", "unborn"} {
		t.Run(kind, func(t *testing.T) {
			l := newLab(t)
			l.write("a/b.txt", "b\n")
			l.write(".gitignore", "*.log\n")
			l.write("x.log", "log\n")
			if kind == "unborn" {
				l.git(l.top, "init", "-q", ".")
			}
			check := l.untouched()
			made := l.fork(l.snapshot(), l.target("p"))
			check()
			if made.Branch != "" || (len(made.Notes) == 1) != (kind == "unborn") {
				t.Errorf("made %+v", made)
			}
			l.same(made)
			if err := UndoDocument(t.Context(), made.Document, t.TempDir()); err != nil {
				t.Fatal(err)
			}
			l.gone(made.Document)
		})
	}
}

func TestLinkedWorktreeAndDetachedAsSource(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "a\n")
	l.initGit()
	main := l.top
	l.top = filepath.Join(l.base, "linked")
	l.git(main, "worktree", "add", "-q", "--detach", l.top)
	l.write("a.txt", "changed in the worktree\n")
	l.write("b.txt", "b\n")
	l.git(l.top, "add", "b.txt")
	src := l.snapshot()
	if src.Branch != "" {
		t.Fatalf("HEAD is on %s", src.Branch)
	}
	check := l.untouched()
	made := l.fork(src, l.target("from-linked"))
	check()
	l.same(made)
	again := l.fork(src, l.target("from-linked-2"))
	if _, err := again.Undo(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if out := l.git(main, "worktree", "list"); strings.Count(out, "\n") != 2 {
		t.Errorf("worktrees:\n%s", out)
	}
}

func TestBranchNames(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "a\n")
	l.initGit()
	src := l.snapshot()
	l.git(l.top, "branch", "umbra/taken")
	l.git(l.top, "branch", "UMBRA/Case")
	l.git(l.top, "branch", "umbra/below/x")
	for _, c := range []struct{ name, want string }{
		{"taken", "umbra/taken-2"}, {"below", "umbra/below-2"}, {"case", "umbra/case-2"}, {"free", "umbra/free"},
	} {
		if made := l.fork(src, l.target(c.name)); made.Branch != c.want {
			t.Errorf("%s: branch %s, not %s", c.name, made.Branch, c.want)
		}
	}
	m := newLab(t)
	m.write("a.txt", "a\n")
	m.initGit()
	m.git(m.top, "branch", "umbra")
	if made := m.fork(m.snapshot(), m.target("x")); made.Branch != "umbra-x" {
		t.Errorf("with a branch umbra: %s", made.Branch)
	}
}

func TestSubdirectory(t *testing.T) {
	for _, c := range []struct {
		name     string
		disturb  func(l *lab)
		fromHead bool
	}{
		{"live", func(*lab) {}, false},
		{"modified outside", func(l *lab) { l.write("outside.txt", "modified\n") }, true},
		{"head moved", func(l *lab) { l.commit("later") }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			l.scope = "apps/one"
			l.write("outside.txt", "outside\n")
			l.write("apps/two/x.txt", "two\n")
			l.write("apps/one/main.go", "package one\n")
			l.write("apps/one/sub/y.go", "package sub\n")
			l.write(".gitignore", "/cache\n*.tmp\n")
			l.initGit()
			l.write("apps/one/main.go", "package changed\n")
			l.write("apps/one/junk.tmp", "tmp\n")
			l.write("cache/c", "cache\n")
			l.git(l.top, "add", "apps/one/main.go")
			src := l.snapshot()
			c.disturb(l)
			check := l.untouched()
			made := l.fork(src, l.target("sub"))
			check()
			if made.Workspace != filepath.Join(made.Worktree, "apps/one") {
				t.Errorf("workspace %s", made.Workspace)
			}
			equal(t, "workspace", contents(t, made.Workspace), contents(t, l.live()))
			rest := contents(t, made.Worktree, ".git", "apps/one")
			want := contents(t, l.top, ".git", "apps/one")
			if c.fromHead {
				want["outside.txt"] = "-rw-r--r-- outside\n"
				delete(want, "cache")
				delete(want, "cache/c")
			}
			equal(t, "what is outside", rest, want)
			if got := l.git(made.Worktree, "status", "--porcelain"); got != "M  apps/one/main.go" {
				t.Errorf("status: %q", got)
			}
		})
	}
}

func TestSparseSource(t *testing.T) {
	l := newLab(t)
	l.write("in/a", "a\n")
	l.write("out/b", "b\n")
	l.initGit()
	l.git(l.top, "sparse-checkout", "set", "in")
	made := l.fork(l.snapshot(), l.target("sparse"))
	l.same(made)
	if got := l.git(made.Worktree, "sparse-checkout", "list"); got != "in" {
		t.Errorf("patterns: %q", got)
	}
}

func TestSubmodulesAndNested(t *testing.T) {
	l := newLab(t)
	other := filepath.Join(l.base, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	l.git(other, "init", "-q", ".")
	if err := os.WriteFile(filepath.Join(other, "lib.c"), []byte("int x;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l.git(other, "add", ".")
	l.git(other, "commit", "-qm", "lib")
	l.write("a.txt", "a\n")
	l.write(".gitignore", "/vendor/\n/trees/\n")
	l.git(l.top, "init", "-q", ".")
	l.git(l.top, "submodule", "--quiet", "add", other, "libs/sub")
	l.git(l.top, "submodule", "--quiet", "add", other, "libs/absent")
	l.commit("first")
	l.git(l.top, "submodule", "--quiet", "deinit", "-f", "libs/absent")
	l.git(l.top, "clone", "-q", other, "nested")
	l.git(l.top, "clone", "-q", other, "vendor/dep")
	l.git(l.top, "worktree", "add", "-q", "trees/w")
	l.write("libs/sub/lib.c", "int y;\n")
	l.write("nested/new.c", "int z;\n")
	src := l.snapshot()

	check := l.untouched()
	made := l.fork(src, l.target("sub"))
	check()
	equal(t, "files", contents(t, made.Workspace, ".git", "nested/.git", "vendor/dep/.git", "libs/sub/.git"),
		contents(t, l.top, ".git", "nested/.git", "vendor/dep/.git", "libs/sub/.git", "trees/w"))
	if got := reasons(made.Left); len(got) != 1 || got["trees/w"] != reasonWorktree {
		t.Errorf("left %v", got)
	}
	for _, dir := range []string{"", "libs/sub", "nested", "vendor/dep"} {
		got, want := l.git(filepath.Join(made.Workspace, dir), "status", "--porcelain"), l.git(filepath.Join(l.top, dir), "status", "--porcelain")
		if got != want {
			t.Errorf("status in %q: %q, not %q", dir, got, want)
		}
		if top := l.git(filepath.Join(made.Workspace, dir), "rev-parse", "--show-toplevel"); top != filepath.Join(made.Workspace, dir) {
			t.Errorf("%q belongs to %s", dir, top)
		}
	}
	check = l.untouched(".git/worktrees/sub/")
	sub := filepath.Join(made.Workspace, "libs/sub")
	l.git(sub, "commit", "-qam", "in the fork")
	l.git(filepath.Join(made.Workspace, "nested"), "commit", "-q", "--allow-empty", "-m", "in the fork")
	check()

	src.Now = false
	past := l.fork(src, l.target("past"))
	if got := reasons(past.Left); got["nested/.git"] != reasonMoment || got["libs/sub/.git"] != reasonMoment {
		t.Errorf("left from the past: %v", got)
	}
}

func TestThreeForksAtOnce(t *testing.T) {
	l := newLab(t)
	rich(l)
	src := l.snapshot()
	check := l.untouched()
	var wait sync.WaitGroup
	made := make([]*Made, 3)
	errs := make([]error, 3)
	targets := make([]Target, 3)
	for n := range made {
		targets[n] = l.target(fmt.Sprintf("at-once-%d/same", n))
		targets[n].Name = "same"
		// Rules are not safe for concurrent use: each fork reads its own.
	}
	sources := []Source{src, l.snapshot(), l.snapshot()}
	for n := range made {
		wait.Go(func() { made[n], errs[n] = Make(t.Context(), sources[n], targets[n]) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	check()
	var branches []string
	for _, m := range made {
		l.same(m)
		branches = append(branches, m.Branch)
	}
	slices.Sort(branches)
	if got := oneLine(branches); got != "umbra/same umbra/same-2 umbra/same-3" {
		t.Errorf("branches %s", got)
	}
}

func TestNothingOfTheUsersRuns(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "a\n")
	l.write("f.lfs", "pointer\n")
	l.write(".gitattributes", "*.lfs filter=trap\n")
	l.initGit()
	ran := filepath.Join(l.base, "ran")
	l.git(l.top, "config", "filter.trap.clean", "touch "+ran+"; cat")
	l.git(l.top, "config", "filter.trap.smudge", "touch "+ran+"; cat")
	l.git(l.top, "config", "filter.trap.process", "touch "+ran)
	l.git(l.top, "config", "filter.trap.required", "true")
	l.git(l.top, "config", "core.fsmonitor", "touch "+ran)
	hooks := filepath.Join(l.top, ".git/hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "pre-commit"} {
		if err := os.WriteFile(filepath.Join(hooks, hook), []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	src := l.snapshot()
	os.Remove(ran)
	l.write("f.lfs", "another, of this size\n")
	t.Setenv("GIT_DIR", "/nonexistent")
	t.Setenv("GIT_INDEX_FILE", filepath.Join(l.base, "index"))
	t.Setenv("GIT_WORK_TREE", "/nonexistent")
	t.Setenv("GIT_CONFIG_PARAMETERS", "'filter.more.clean=touch "+ran+"'")
	for _, scope := range []string{"", "sub"} {
		s := src
		if scope != "" {
			s.Scope, s.Live = scope, ""
		}
		made, err := Make(t.Context(), s, l.target("trap"+scope))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Inspect(t.Context(), made.Document, s); err != nil {
			t.Fatal(err)
		}
		if _, err := Discard(t.Context(), made.Document, t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the user's ran")
	}
}

// failingGit has git run what spoils its work, a line of sh that may name $admin,
// the git directory, once it has done what is asked with word.
func failingGit(t *testing.T, word, spoil string) {
	t.Helper()
	wrapGit(t, `"$git" "$@" || exit; case " $* " in *" `+word+` "*) `+spoil+`;; esac`)
}

// wrapGit puts lines of sh in git's place, which find it in $git.
func wrapGit(t *testing.T, lines string) {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := "#!/bin/sh\ngit=\"" + real + "\"\nfor a; do case $a in --git-dir=*) admin=${a#*=};; esac; done\n" + lines + "\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
}

// nothingOf fails the test if there is anything of a fork that was not made.
func (l *lab) nothingOf(what string, target Target) {
	l.t.Helper()
	if _, err := os.Lstat(target.Directory); !errors.Is(err, fs.ErrNotExist) {
		l.t.Errorf("%s: the directory is there (%v)", what, err)
	}
	if branches := l.git(l.top, "branch", "--list", "umbra/*"); branches != "" {
		l.t.Errorf("%s: the branch is there: %s", what, branches)
	}
	if _, err := os.Lstat(filepath.Join(l.top, ".git/worktrees")); !errors.Is(err, fs.ErrNotExist) {
		l.t.Errorf("%s: .git/worktrees is there (%v)", what, err)
	}
}

// TestWorktreeNotAdded: a git that fails to add the worktree leaves what holds all
// of them, which goes too.
func TestWorktreeNotAdded(t *testing.T) {
	l := newLab(t)
	l.write("a", "a\n")
	l.initGit()
	src, target := l.snapshot(), l.target("fork")
	failingGit(t, "worktree add", `rm -r "$admin/worktrees/fork"; exit 128`)
	if made, err := Make(t.Context(), src, target); err == nil {
		t.Errorf("made %+v", made)
	}
	l.nothingOf("a worktree that was not added", target)
}

// TestIndexSaysWhatFailed: a git that can't look at the files of the fork is
// quoted, and not its exit code alone.
func TestIndexSaysWhatFailed(t *testing.T) {
	l := newLab(t)
	l.write("a", "a\n")
	l.write("touched", "b\n")
	l.initGit()
	l.write("a", "not as in HEAD\n")
	src, target := l.snapshot(), l.target("fork")
	wrapGit(t, `case " $* " in *" --refresh "*) touch "$GIT_WORK_TREE/touched"; : >"$admin/index.lock";; esac; exec "$git" "$@"`)
	if _, err := Make(t.Context(), src, target); err == nil || !strings.Contains(err.Error(), "index.lock") {
		t.Error(err)
	}
	l.nothingOf("a worktree without an index", target)
}

// TestHeadWasUnread: a HEAD that could not be read is not taken for none. What it is
// now is the next best, and without that a fork says why it has no Git.
func TestHeadWasUnread(t *testing.T) {
	for _, unborn := range []bool{false, true} {
		l := newLab(t)
		l.write("a.txt", "one\n")
		want := ""
		if unborn {
			l.git(l.top, "init", "-q", ".")
		} else {
			l.initGit()
			want = l.git(l.top, "rev-parse", "HEAD")
		}
		src := l.snapshot()
		src.Head, src.Ancestors, src.Unread = "", nil, "input/output error"
		made := l.fork(src, l.target("unread"))
		if made.Head != want || !made.Fallback || len(made.Notes) != 1 || !strings.Contains(made.Notes[0], "could not be read (input/output error)") {
			t.Errorf("unborn %v: made %+v", unborn, made)
		}
		l.same(made)
	}
}
