package restore

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// git runs git in a directory of the workspace.
func (l *lab) git(dir string, args ...string) {
	l.t.Helper()
	if out, err := hazards.Git(l.path(dir), args...); err != nil {
		l.t.Fatalf("git %q: %v %s", args, err, out)
	}
}

// TestDirectoryThatIsSkippedNow: where the target has a plain directory, another
// worktree of the repository lies by now. What was once there is not put back into
// it, by a restore nor by an undo, and nothing in it changes.
func TestDirectoryThatIsSkippedNow(t *testing.T) {
	l := newFastLab(t)
	l.git("", "init", "-q")
	l.git("", "config", "user.name", "N")
	l.git("", "config", "user.email", "n@n")
	l.git("", "commit", "-q", "--allow-empty", "-m", "c")
	repo, err := usergit.Discover(l.root)
	l.must(err)
	l.repo = repo
	l.write("b", "1")
	plain := func() {
		l.write("d/wt/gone", "1")
		l.write("d/wt/sub/gone", "1")
		l.write("d/wt/both", "1")
		l.must(os.Mkdir(l.path("d/wt/empty"), 0o755))
		l.must(os.Chmod(l.path("d/wt"), 0o700))
	}
	worktree := func() {
		l.git("", "worktree", "add", "-q", "--detach", l.path("d/wt"))
		l.write("d/wt/both", "theirs")
		l.must(os.Chmod(l.path("d/wt"), 0o755))
	}
	plain()
	to := l.capture()
	l.remove("b", "d/wt")
	l.write("d/x", "1")
	without := l.capture()
	worktree()
	before := l.exact()
	p := l.plan(l.capture(), to)
	const want = "C b, D d/x, K d/wt/both worktree, K d/wt/empty worktree, K d/wt/gone worktree, K d/wt/sub/gone worktree"
	if got := lines(p); got != want {
		t.Errorf("restore: %s", got)
	}
	if got := lines(l.plan(l.capture(), to, func(r *Request) { r.Paths = []string{"d/wt"} })); got != "K d/wt/both worktree, K d/wt/empty worktree, K d/wt/gone worktree, K d/wt/sub/gone worktree" {
		t.Errorf("restore of the directory alone: %s", got)
	}
	l.apply(p, PrepareOptions{})
	delete(before, "d/x")
	before["b"] = "file 1 644"
	l.same("restored", l.exact(), before)

	l.git("", "worktree", "remove", "--force", l.path("d/wt"))
	plain()
	l.write("d/x", "1")
	gone := l.plan(l.capture(), without)
	l.apply(gone, PrepareOptions{})
	l.remove("d/wt")
	worktree()
	before = l.exact()
	undo := l.inverse(gone)
	l.apply(undo, PrepareOptions{})
	before["b"] = "file 1 644"
	l.same("undone", l.exact(), before)
	if got := lines(undo); got != "C b, K d/wt/both changed, K d/wt/gone worktree, K d/wt/sub worktree, K d/wt/sub/gone worktree" {
		t.Errorf("undo: %s", got)
	}
}

// TestDirectoryOfUmbrasNow: where the target has a plain directory, Umbra's own home
// lies by now.
func TestDirectoryOfUmbrasNow(t *testing.T) {
	l := newFastLab(t)
	l.write("b", "1")
	l.write("home/config.yml", "1")
	l.write("home/projects/x", "1")
	to := l.capture()
	l.remove("b", "home")
	l.write("home/lock", "its own")
	home, err := beneath.Open(l.path("home"))
	l.must(err)
	t.Cleanup(func() { _ = home.Close() })
	l.avoid = []beneath.Identity{home.Identity()}
	before := l.exact()
	p := l.plan(l.capture(), to)
	if got := lines(p); got != "C b, K home/config.yml reserved, K home/projects/x reserved" {
		t.Errorf("plan: %s", got)
	}
	l.apply(p, PrepareOptions{})
	before["b"] = "file 1 644"
	l.same("restored", l.exact(), before)
}

// TestSpecialFileWhereADirectoryWas: nothing is put in its place, and it is not
// opened.
func TestSpecialFileWhereADirectoryWas(t *testing.T) {
	l := newFastLab(t)
	l.write("a", "1")
	l.write("fifo/x", "1")
	l.write("deep/fifo/sub/x", "1")
	l.must(os.MkdirAll(l.path("empty/fifo"), 0o755))
	to := l.capture()
	l.remove("a", "fifo", "deep/fifo", "empty/fifo")
	for _, name := range []string{"fifo", "deep/fifo", "empty/fifo"} {
		l.must(unix.Mkfifo(l.path(name), 0o600))
	}
	before := l.exact()
	p := l.plan(l.capture(), to)
	if got := lines(p); got != "C a, K deep/fifo/sub/x special, K empty/fifo blocked, K fifo/x special" {
		t.Errorf("plan: %s", got)
	}
	l.apply(p, PrepareOptions{})
	before["a"] = "file 1 644"
	l.same("restored", l.exact(), before)
}
