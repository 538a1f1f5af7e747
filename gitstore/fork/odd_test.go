package fork

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

func TestSHA256Repository(t *testing.T) {
	l := newLab(t)
	l.git(l.top, "init", "-q", "--object-format=sha256", ".")
	l.write("a.txt", "a\n")
	first := l.commit("first")
	l.write("a.txt", "lost\n")
	l.commit("second")
	l.write("b.txt", "staged\n")
	l.git(l.top, "add", "b.txt")
	src := l.snapshot()
	check := l.untouched()
	made := l.fork(src, l.target("one"))
	check()
	l.same(made)
	l.git(l.top, "reset", "-q", "--hard", first)
	l.git(l.top, "reflog", "expire", "--expire=now", "--all")
	l.git(l.top, "worktree", "remove", "-f", "-f", filepath.Join(l.base, "forks/one"))
	l.git(l.top, "branch", "-q", "-D", "umbra/one")
	l.git(l.top, "gc", "-q", "--prune=now")
	made = l.fork(src, l.target("two"))
	if !made.Fallback || made.Head != first {
		t.Errorf("made %+v", made)
	}
	if got := l.git(made.Worktree, "show", ":b.txt"); got != "staged" {
		t.Errorf("staged: %q", got)
	}
}

func TestPartialCloneFetchesNothing(t *testing.T) {
	hazards.Held(t, hazards.H19, "a fork in a partial clone fetches nothing")
	l := newLab(t)
	origin := filepath.Join(l.base, "origin")
	if err := os.Mkdir(origin, 0o755); err != nil {
		t.Fatal(err)
	}
	l.git(origin, "init", "-q", ".")
	l.git(origin, "config", "uploadpack.allowFilter", "true")
	for n := range 3 {
		if err := os.WriteFile(filepath.Join(origin, "a.txt"), fmt.Appendf(nil, "%d\n", n), 0o644); err != nil {
			t.Fatal(err)
		}
		l.git(origin, "add", ".")
		l.git(origin, "commit", "-qm", "n")
	}
	os.Remove(l.top)
	l.git(l.base, "clone", "-q", "--filter=blob:none", "file://"+origin, l.top)
	l.write("a.txt", "changed\n")
	src := l.snapshot()
	base := src.Head
	src.Head = strings.Repeat("1", 40)
	lost := src
	lost.Ancestors = append([]string{strings.Repeat("2", 40), base}, src.Ancestors...)
	if err := os.RemoveAll(origin); err != nil {
		t.Fatal(err)
	}
	made := l.fork(lost, l.target("partial"))
	if !made.Fallback || made.Head != base {
		t.Errorf("made %+v", made)
	}
	l.same(made)
}

func TestForkOfARemovedFork(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", "ignored\n")
	l.write("a.txt", "a\n")
	l.initGit()
	parent := l.fork(l.snapshot(), l.target("parent"))
	main := l.top
	l.top = parent.Workspace
	l.write("b.txt", "b\n")
	l.git(l.top, "add", "b.txt")
	l.write("ignored", "x\n")
	src := l.snapshot()
	want := contents(t, l.top, ".git", "ignored")
	if _, err := Discard(t.Context(), parent.Document, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	src.Live, src.Identity = "", beneath.Identity{}
	made := l.fork(src, l.target("child"))
	equal(t, "the child", contents(t, made.Workspace, ".git"), want)
	if got := l.git(made.Worktree, "status", "--porcelain"); got != "A  b.txt" || made.Branch != "umbra/child" {
		t.Errorf("status %q on %s", got, made.Branch)
	}
	if err := os.RemoveAll(main); err != nil {
		t.Fatal(err)
	}
	plain := l.fork(src, l.target("plain"))
	equal(t, "the plain child", contents(t, plain.Workspace), want)
	if plain.Branch != "" || len(plain.Notes) != 1 {
		t.Errorf("made %+v", plain)
	}
}

func TestShallowClone(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "a\n")
	l.initGit()
	l.write("a.txt", "b\n")
	l.commit("second")
	origin := l.top
	l.top = filepath.Join(l.base, "shallow")
	l.git(l.base, "clone", "-q", "--depth=1", "file://"+origin, l.top)
	l.same(l.fork(l.snapshot(), l.target("shallow")))
}

func TestLineEndsAndFilters(t *testing.T) {
	l := newLab(t)
	l.write(".gitattributes", "*.txt text eol=crlf\n*.lfs filter=lfs\n")
	l.write("a.txt", "one\r\ntwo\r\n")
	l.write("mixed.txt", "one\r\ntwo\n")
	l.git(l.top, "init", "-q", ".")
	l.git(l.top, "config", "core.autocrlf", "true")
	l.git(l.top, "config", "filter.lfs.clean", "sed s/content/pointer/")
	l.git(l.top, "config", "filter.lfs.smudge", "sed s/pointer/content/")
	l.write("x.lfs", "content\n")
	l.commit("first")
	made := l.fork(l.snapshot(), l.target("ends"))
	l.same(made)
}

func TestFilesThatAreWrittenTo(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", "*.log\n")
	for i := range 20 {
		l.write(fmt.Sprintf("kept/%d", i), "kept\n")
	}
	l.initGit()
	l.write("server.log", strings.Repeat("line\n", 300_000))
	src := l.snapshot()
	log, err := os.OpenFile(filepath.Join(l.top, "server.log"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var wait sync.WaitGroup
	end := make(chan struct{})
	wait.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-end:
				return
			default:
			}
			if _, err := log.WriteString("line\n"); err != nil {
				t.Error(err)
				return
			}
			name := filepath.Join(l.top, fmt.Sprintf("%d.log", n%50))
			_ = os.WriteFile(name, []byte("line\n"), 0o644)
			_ = os.Remove(filepath.Join(l.top, fmt.Sprintf("%d.log", (n+25)%50)))
		}
	})
	made := l.fork(src, l.target("busy"))
	close(end)
	wait.Wait()
	for path, reason := range reasons(made.Left) {
		if reason != reasonChanging && (reason != reasonVanished || path == "server.log") {
			t.Errorf("%s: %s", path, reason)
		}
	}
	data, err := os.ReadFile(filepath.Join(made.Workspace, "server.log"))
	if err != nil || strings.Trim(string(data), "line\n") != "" || len(data) < 5*300_000 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

func TestNamesAndModes(t *testing.T) {
	l := newLab(t)
	names := []string{
		" leading", "-rf", ":(glob)**", "new\nline", "tab\there", "quote\"", "back\\slash", "not-utf8-\xff\xfe", strings.Repeat("n", 255),
		"nul", "trailing.", "é", "e\u0301", "~", "*",
	}
	for n, name := range names {
		l.write(name, fmt.Sprintf("%d\n", n))
		l.write(".hidden/"+name, fmt.Sprintf("%d\n", n))
	}
	deep := strings.Repeat(strings.Repeat("d", 200)+"/", 15)
	l.write(deep+"file", "deep\n")
	for path, perm := range map[string]os.FileMode{"nul": 0o600, "~": 0o444, "*": 0o711, ".hidden": 0o700} {
		if err := os.Chmod(filepath.Join(l.top, path), perm); err != nil {
			t.Fatal(err)
		}
	}
	l.initGit()
	for _, name := range names {
		l.write("s"+name[:min(len(name), 254)], "staged\n")
	}
	l.git(l.top, "add", "-A")
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	l.same(l.fork(l.snapshot(), l.target("names")))
}

// childRoot names the directory in which a child process works without
// privileges.
const childRoot = "UMBRA_TEST_FORK_UNPRIVILEGED"

// TestUnprivilegedInChild is run by TestReadOnlyDirectories.
func TestUnprivilegedInChild(t *testing.T) {
	base := os.Getenv(childRoot)
	if base == "" {
		return
	}
	if os.Getuid() == 0 {
		if err := syscall.Setgid(65534); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Setuid(65534); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", base)
	l := newLabIn(t, base)
	l.write(".gitignore", "/ignored/\n")
	for _, dir := range []string{"kept", "ignored", "locked"} {
		l.write(dir+"/sub/file", "content\n")
	}
	l.initGit()
	l.write("ignored/secret", "unreadable\n")
	l.write("ignored/closed/x", "x\n")
	modes := map[string]os.FileMode{"kept/sub": 0o555, "kept": 0o555, "ignored/sub": 0o555, "ignored": 0o555, "ignored/secret": 0, "ignored/closed": 0}
	for path := range modes {
		defer os.Chmod(filepath.Join(l.top, path), 0o755)
	}
	for _, path := range []string{"kept/sub", "kept", "ignored/secret", "ignored/closed", "ignored/sub", "ignored"} {
		if err := os.Chmod(filepath.Join(l.top, path), modes[path]); err != nil {
			t.Fatal(err)
		}
	}
	src := l.snapshot()
	made := l.fork(src, l.target("read-only"))
	for path, mode := range modes {
		st, err := os.Lstat(filepath.Join(made.Workspace, path))
		if path == "ignored/secret" || path == "ignored/closed" {
			if err == nil {
				t.Errorf("%s came along", path)
			}
			continue
		}
		if err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, st.Mode(), err)
		}
	}
	if got := reasons(made.Left); len(got) != 2 || got["ignored/secret"] != reasonUnreadable || got["ignored/closed"] != reasonUnreadable {
		t.Errorf("left %v", got)
	}
	trash := filepath.Join(base, "trash")
	if err := os.Mkdir(trash, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := UndoDocument(t.Context(), made.Document, trash); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(filepath.Join(trash, "read-only/kept"), 0o755); err != nil {
		t.Error(err)
	}
	again := l.fork(src, l.target("deleted"))
	if _, err := again.Undo(t.Context(), trash); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(filepath.Join(trash, "deleted/kept"), 0o755); err != nil {
		t.Error(err)
	}
	l.gone(again.Document)
}

func TestReadOnlyDirectories(t *testing.T) {
	hermetic(t)
	base, err := os.MkdirTemp("", "umbra-fork-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	if os.Getuid() == 0 {
		if err := os.Chown(base, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	child := exec.Command(os.Args[0], "-test.run=^TestUnprivilegedInChild$", "-test.v")
	child.Env = append(os.Environ(), childRoot+"="+base, "TMPDIR="+base)
	if out, err := child.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestNoGitProgram(t *testing.T) {
	hazards.Held(t, hazards.H19, "without the program `git` a fork is a plain directory, and says so")
	l := newLab(t)
	l.write("a.txt", "a\n")
	l.initGit()
	src := l.snapshot()
	t.Setenv("PATH", "")
	made := l.fork(src, l.target("no-git"))
	equal(t, "the fork", contents(t, made.Workspace), contents(t, l.top, ".git"))
	if made.Branch != "" || len(made.Notes) != 1 {
		t.Errorf("made %+v", made)
	}
	if err := UndoDocument(t.Context(), made.Document, t.TempDir()); err != nil {
		t.Error(err)
	}
}
