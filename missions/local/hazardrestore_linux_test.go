package local

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// TestUntrackedFilesSurviveARestore: neither what is ignored nor what nobody
// knows is ever swept away.
func TestUntrackedFilesSurviveARestore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(".gitignore", "secret.env\nnode_modules/\n")
	b.write("a.txt", "one\n")
	b.write("node_modules/x/index.js", "x\n")
	b.write("secret.env", "KEY=1\n")

	other := b.twin()
	naive := hazards.NewNaive(t, other.dir)
	first := naive.Save()
	other.write("a.txt", "two\n")
	other.write("notes.txt", "never added\n")
	naive.Git("reset", "-q", "--hard", first)
	naive.Git("clean", "-qfdx")
	hazards.Shown(t, hazards.H6, !other.exists("secret.env") && !other.exists("node_modules") && !other.exists("notes.txt"),
		"`git reset --hard` and `git clean -fdx` delete ignored and untracked files for good")

	b.mission("work")
	b.write("a.txt", "two\n")
	b.snapshot("two")
	b.write("notes.txt", "never added\n")
	b.restore("work@start")
	if b.read("a.txt") != "one\n" || b.read("secret.env") != "KEY=1\n" || b.read("node_modules/x/index.js") != "x\n" {
		t.Errorf("a %q, secret %q", b.read("a.txt"), b.read("secret.env"))
	}
	if _, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller()}); err != nil || b.read("notes.txt") != "never added\n" {
		t.Errorf("what was on disk just before: %q %v", b.read("notes.txt"), err)
	}
	b.healthy()
	hazards.Held(t, hazards.H6, "what is ignored stays; what was on disk is in a snapshot, and undo brings it back")
	if b.exists(".git") {
		t.Error("a .git was made in the workspace")
	}
	hazards.Held(t, hazards.H32, "a workspace without a repository has none afterwards")
}

// TestRulesDifferAcrossARestore restores across a change of ignore rules.
func TestRulesDifferAcrossARestore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	other := b.twin()
	naive := hazards.NewNaive(t, other.dir)
	first := naive.Save()
	other.write(".gitignore", "data/\n")
	other.write("data/big", "weeks of work\n")
	naive.Save()
	naive.Restore(first)
	hazards.Shown(t, hazards.H7, !other.exists("data/big"),
		"the snapshot from before the `.gitignore` is restored: `git clean -fd` now takes ignored files for untracked, and deletes what no snapshot holds")

	b.mission("work")
	b.write(".gitignore", "data/\n")
	b.write("data/big", "weeks of work\n")
	b.snapshot("with rules")
	done := b.restore("work@start")
	if b.exists(".gitignore") || b.read("data/big") != "weeks of work\n" {
		t.Errorf("the rules are there: %v; data is %q: %+v", b.exists(".gitignore"), b.read("data/big"), done)
	}
	b.restore("work~1") // and the other way: data is captured now, and ignored there
	if b.read(".gitignore") != "data/\n" || b.read("data/big") != "weeks of work\n" {
		t.Errorf("back: data is %q", b.read("data/big"))
	}
	b.healthy()
	hazards.Held(t, hazards.H7, "a path is deleted only if both the present and the restored rules would capture it")
}

// TestSizeCapAcrossARestore has files at the cap, one byte over, grown past it
// and shrunk under it.
func TestSizeCapAcrossARestore(t *testing.T) {
	t.Parallel()
	const size = 1000
	text := func(c string, n int) string { return strings.Repeat(c, n) }
	b := newBench(t)
	b.write("grown", text("g", size+1))
	other := b.twin()
	naive := hazards.NewNaive(t, other.dir)
	b.put(filepath.Join(naive.Dir, "info/exclude"), "grown\n") // over the cap
	first := naive.Save()
	other.write("grown", text("s", 10)) // under it
	b.put(filepath.Join(naive.Dir, "info/exclude"), "")
	naive.Save()
	naive.Restore(first)
	hazards.Shown(t, hazards.H8, !other.exists("grown"), "a file over the cap is left out by an exclude; shrunk, it is taken; `git reset --hard` to the first snapshot deletes it")

	b.local.Config.Capture.MaxFileSize = size
	b.write("at", text("a", size))
	b.write("over", text("o", size+1))
	b.write("shrunk", text("s", size+1))
	b.write("grown", text("g", 10))
	b.mission("work")
	b.write("at", text("b", size+1))
	b.write("over", text("p", size+2))
	b.write("shrunk", text("s", 10))
	b.write("grown", text("h", size+1))
	b.snapshot("changed")
	b.restore("work@start")
	for name, want := range map[string]string{
		"at":     text("b", size+1), // on disk it is in no snapshot: kept
		"over":   text("p", size+2),
		"shrunk": text("s", 10),
		"grown":  text("h", size+1),
	} {
		if got := b.read(name); got != want {
			t.Errorf("%s is %.20q of %d bytes, want %.20q of %d", name, got, len(got), want, len(want))
		}
	}
	b.write("at", text("c", size))
	b.restore("work@start")
	if got := b.read("at"); got != text("a", size) {
		t.Errorf("a file at the cap was not put back: %.20q of %d", got, len(got))
	}
	b.healthy()
	hazards.Held(t, hazards.H8, "what was stored is put back, what is stored nowhere is kept and reported")
}

// TestTwoAgentsInOneWorkspace: taking back the work of one asks about the
// other's, and keeps it.
func TestTwoAgentsInOneWorkspace(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	other := c.twin()
	naive := hazards.NewNaive(t, other.dir)
	first := naive.Save()
	other.write("of-a.txt", "a\n")
	naive.Save()
	other.write("of-b.txt", "b\n")
	naive.Save()
	naive.Restore(first)
	hazards.Shown(t, hazards.H9, !other.exists("of-b.txt"), "one agent's first snapshot, restored, takes back the other's work")

	clock := &clockwork{time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	c.local.Clock = clock.time
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "of-a.txt", "one\n")
	clock.now = clock.now.Add(time.Minute)
	d := newTalker(c.testBench)
	d.switchTo(otherSession)
	d.hook("SessionStart", map[string]any{"source": "startup"})
	d.takeTurn("first", "of-b.txt", "b\n")
	list, err := c.local.Missions(context.Background(), missions.MissionsRequest{Caller: c.caller()})
	if err != nil || len(list) != 2 {
		t.Fatalf("%d missions, %v", len(list), err)
	}
	a := list[slices.IndexFunc(list, func(m missions.Mission) bool { return m.SessionID == c.session })]
	// The same workspace under another name is no way around it.
	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(c.dir, alias); err != nil {
		t.Fatal(err)
	}
	for _, cwd := range []string{c.dir, alias} {
		caller := c.caller()
		caller.Cwd = cwd
		_, err = c.local.Restore(context.Background(), missions.RestoreRequest{Caller: caller, Mission: a.Name, Moment: a.Name + "@start"})
		if kindOf(err) != missions.KindConflict || !strings.Contains(err.Error(), "of-b.txt") || c.read("of-a.txt") != "one\n" {
			t.Errorf("from %s: %v", cwd, err)
		}
	}
	c.restore(a.Name+"@start", func(r *missions.RestoreRequest) { r.Mission, r.KeepOthers = a.Name, true })
	if c.exists("of-a.txt") || c.read("of-b.txt") != "b\n" {
		t.Errorf("a's file is there: %v; b's is %q", c.exists("of-a.txt"), c.read("of-b.txt"))
	}
	c.healthy()
	hazards.Held(t, hazards.H9, "paths of others are named and kept unless one insists, whatever path leads to the workspace")
}

// TestRestoreBelowTheTopLevel: a mission in a subdirectory has only that.
func TestRestoreBelowTheTopLevel(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q")
	b.write("sub/a.txt", "one\n")
	b.write("sibling/b.txt", "old\n")
	b.write("c.txt", "old\n")
	b.git("add", ".")
	b.git("commit", "-qm", "first")
	other := b.twin()
	naive := hazards.NewNaive(t, other.dir)
	first := naive.Save()
	other.write("sibling/b.txt", "weeks of work\n")
	naive.Git("read-tree", first)
	naive.Git("checkout-index", "-a", "-f")
	hazards.Shown(t, hazards.H10, other.read("sibling/b.txt") == "old\n", "the snapshot of the whole repository, restored for an agent that works in `sub`, overwrites its siblings")

	sub := &testBench{T: t, local: b.local, user: b.user, home: b.home, dir: filepath.Join(b.dir, "sub")}
	_, err := b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: sub.caller(), Name: "below", Workspace: ".", Command: []string{"sh"}})
	if err != nil {
		t.Fatal(err)
	}
	sub.write("a.txt", "two\n")
	b.write("sibling/b.txt", "weeks of work\n")
	b.write("c.txt", "weeks of work\n")
	sub.snapshot("two")
	sub.restore("below@start")
	if b.read("sub/a.txt") != "one\n" || b.read("sibling/b.txt") != "weeks of work\n" || b.read("c.txt") != "weeks of work\n" {
		t.Errorf("a %q, b %q, c %q", b.read("sub/a.txt"), b.read("sibling/b.txt"), b.read("c.txt"))
	}
	// An agent that was only started there has the whole repository for its
	// workspace: what the user did beside it is the user's.
	b.local.Adapters = projects.Agents()
	c := newTalker(sub)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "three\n")
	b.write("sibling/b.txt", "more work\n")
	whole, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Mission: "first", Moment: "first@start"})
	if kindOf(err) != missions.KindConflict || !strings.Contains(err.Error(), "sibling/b.txt") || b.read("sibling/b.txt") != "more work\n" {
		t.Errorf("restored %+v: %v", whole, err)
	}
	sub.healthy()
	hazards.Held(t, hazards.H10, "a mission below the top level holds its directory and touches nothing else; one of the whole repository asks about what was changed outside its turns")
}

// TestUnchangedFilesAreNotTouched: what is equal keeps inode and times.
func TestUnchangedFilesAreNotTouched(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.write("dir/same.txt", "same\n")
	stat := func(b *testBench, name string) syscall.Stat_t {
		t.Helper()
		var st syscall.Stat_t
		if err := syscall.Lstat(filepath.Join(b.dir, name), &st); err != nil {
			t.Fatal(err)
		}
		return st
	}
	other := b.twin()
	naive := hazards.NewNaive(t, other.dir)
	first := naive.Save()
	before := stat(other, "dir/same.txt")
	other.write("a.txt", "two\n")
	naive.Git("read-tree", first)
	naive.Git("checkout-index", "-a", "-f")
	after := stat(other, "dir/same.txt")
	hazards.Shown(t, hazards.H12, before.Ino != after.Ino || before.Mtim != after.Mtim, "`git checkout-index -a -f` writes every file anew")

	b.mission("work")
	b.write("a.txt", "two\n")
	before = stat(b, "dir/same.txt")
	b.restore("work@start")
	if after := stat(b, "dir/same.txt"); before.Ino != after.Ino || before.Mtim != after.Mtim || before.Ctim != after.Ctim || b.read("a.txt") != "one\n" {
		t.Errorf("an equal file was touched: %+v, was %+v", after, before)
	}
	hazards.Held(t, hazards.H12, "equal files keep inode, mtime and ctime")
}

// TestRestoreOfNothing: a snapshot that holds nothing deletes nothing that it
// could not have held.
func TestRestoreOfNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(".gitignore", "*\n")
	b.write("a.txt", "one\n")
	b.write("dir/b.txt", "two\n")
	other := b.twin()
	naive := hazards.NewNaive(t, other.dir)
	first := naive.Save()
	naive.Git("clean", "-qfdx") // makes room, then
	naive.Git("checkout", "-q", first)
	hazards.Shown(t, hazards.H14, naive.Git("ls-tree", first) == "" && !other.exists("a.txt"), "clearing the workspace and checking out the snapshot of a wholly ignored one leaves nothing")

	b.mission("work")
	b.snapshot("nothing")
	b.write("dir/c.txt", "three\n")
	for _, moment := range []string{"work@start", "work~1"} {
		b.restore(moment)
		if b.read("a.txt") != "one\n" || b.read("dir/b.txt") != "two\n" || b.read("dir/c.txt") != "three\n" {
			t.Fatalf("restoring %s, which holds nothing, has changed files", moment)
		}
	}
	b.healthy()
	hazards.Held(t, hazards.H14, "restoring a snapshot that holds nothing touches nothing that it could not have held")
}

// TestRetryKeepsTheSnapshotBefore: the same prompt again is another turn.
func TestRetryKeepsTheSnapshotBefore(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	naive := hazards.NewNaive(t, c.twin().dir)
	first := naive.Save()
	naive.Git("update-ref", "refs/turns/1", first)
	naive.Git("update-ref", "refs/turns/1", naive.Git("commit-tree", "-m", "retry", first+"^{tree}"))
	naive.Git("update-ref", "-d", "HEAD")
	naive.Git("reflog", "expire", "--expire=now", "--all")
	naive.Git("gc", "-q", "--prune=now")
	_, gone := naive.Try("cat-file", "-e", first)
	hazards.Shown(t, hazards.H30, gone != nil, "a ref for each prompt is overwritten by its retry, and the snapshot before is collected")

	c.hook("SessionStart", map[string]any{"source": "startup"})
	before := map[string]string{}
	for n := range 3 { // the same words and the same id each time
		content := strings.Repeat("again\n", n+1)
		c.write("a.txt", content)
		prompt := c.hook("UserPromptSubmit", map[string]any{"prompt": "do it", "prompt_id": "the-same"})
		if prompt.Snapshot == "" {
			prompt.Snapshot = c.snapshot("by hand").ID
		}
		before[prompt.Snapshot] = content
		c.hook("Stop", map[string]any{"prompt_id": "the-same"})
	}
	if len(before) != 3 {
		t.Errorf("%d snapshots of three prompts", len(before))
	}
	history := c.history("")
	for id, content := range before {
		if got := c.cat(id, "a.txt"); got != content || !slices.ContainsFunc(history, func(e missions.Entry) bool { return e.ID == id }) {
			t.Errorf("%s holds %q, want %q", id, got, content)
		}
	}
	c.healthy()
	hazards.Held(t, hazards.H30, "a retry is appended; the snapshots before stay in the history")
}
