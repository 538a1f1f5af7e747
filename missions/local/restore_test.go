package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/claude"
)

func (b *testBench) read(name string) string {
	b.Helper()
	p, err := os.ReadFile(filepath.Join(b.dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return "(none)"
	}
	if err != nil {
		b.Fatal(err)
	}
	return string(p)
}

func (b *testBench) restore(moment string, change ...func(*missions.RestoreRequest)) missions.RestoreResult {
	b.Helper()
	r := missions.RestoreRequest{Caller: b.caller(), Moment: moment}
	for _, c := range change {
		c(&r)
	}
	result, err := b.local.Restore(context.Background(), r)
	if err != nil {
		b.Fatalf("restore %s: %v", moment, err)
	}
	return result
}

func (b *testBench) healthy() {
	b.Helper()
	d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(d.Problems)+len(d.Lost) > 0 {
		b.Errorf("doctor: %+v, lost %+v, %v", d.Problems, d.Lost, err)
	}
}

func kindOf(err error) missions.Kind { return missions.AsError(err).Kind }

// TestRestoreAndUndo puts files and conversation back, takes that back, and
// does it again.
func TestRestoreAndUndo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	b.write("keep.log", "ignored\n")
	b.write(".gitignore", "*.log\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "b.txt", "two\n")

	preview := b.restore("@1", func(r *missions.RestoreRequest) { r.Preview = true })
	if preview.Done || strings.Join(preview.Delete, " ") != "b.txt" || b.read("b.txt") != "two\n" || preview.Conversation.EventsDropped != 4 {
		t.Fatalf("preview: %+v", preview)
	}
	done := b.restore("@1")
	if !done.Done || b.read("a.txt") != "one\n" || b.read("b.txt") != "(none)" || b.read("keep.log") != "ignored\n" {
		t.Fatalf("restored: %+v, b.txt is %q", done, b.read("b.txt"))
	}
	if done.SessionID == c.session || done.Handover.How != "resume" {
		t.Errorf("conversation: %+v", done)
	}
	m, err := b.local.Mission(context.Background(), missions.MissionRequest{Caller: b.caller()})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(m.SessionPath)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if talk, err := sessions.ReadConversation(claude.Adapter{}, f); err != nil || len(talk.Turns) != 1 || talk.ID != done.SessionID {
		t.Errorf("restored conversation: %+v %v", talk, err)
	}
	b.healthy()

	undone, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller()})
	if !undone.Conversation.Switched {
		t.Errorf("undone: %+v", undone.Conversation)
	}
	if err != nil || !undone.Done || b.read("b.txt") != "two\n" || undone.SessionID != c.session {
		t.Fatalf("undo: %+v %v", undone, err)
	}
	if _, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller()}); kindOf(err) != missions.KindNotFound {
		t.Errorf("a second undo: %v", err)
	}
	redone, err := b.local.Redo(context.Background(), missions.UndoRequest{Caller: b.caller()})
	if !redone.Conversation.Switched {
		t.Errorf("redone: %+v", redone.Conversation)
	}
	if err != nil || b.read("b.txt") != "(none)" || redone.SessionID != done.SessionID {
		t.Fatalf("redo: %+v %v", redone, err)
	}
	b.healthy()
}

// TestRestoreTakesBackTurnOfQueuedPrompt: what an agent does at a prompt that was
// queued, and of which no hook told, is its own.
func TestRestoreTakesBackTurnOfQueuedPrompt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	write := map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": filepath.Join(b.dir, "q.txt")}, "tool_use_id": "toolu_queued"}
	c.hook("PreToolUse", write)
	b.write("q.txt", "queued\n")
	c.hook("PostToolUse", write)
	c.hook("Stop", nil)
	if preview := b.restore("@1", func(r *missions.RestoreRequest) { r.Preview = true }); len(preview.Foreign) != 0 {
		t.Errorf("not the mission's own are %+v", preview.Foreign)
	}
	b.restore("@1")
	if got := b.read("q.txt"); got != "(none)" {
		t.Errorf("after the restore q.txt is %q", got)
	}
	b.healthy()
}

// TestRestoreAsksAboutForeignPaths leaves what the user changed between turns
// to the user.
func TestRestoreAsksAboutForeignPaths(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	b.write("mine.txt", "the user's\n")
	c.takeTurn("second", "b.txt", "two\n")
	_, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "@1"})
	if kindOf(err) != missions.KindConflict || !strings.Contains(err.Error(), "mine.txt") || strings.Contains(err.Error(), "b.txt") {
		t.Fatalf("restore over a foreign path: %v", err)
	}
	if b.read("b.txt") != "two\n" {
		t.Error("a refused restore has changed files")
	}
	b.restore("@1", func(r *missions.RestoreRequest) { r.KeepOthers = true })
	if b.read("mine.txt") != "the user's\n" || b.read("b.txt") != "(none)" {
		t.Errorf("--keep-others: mine %q, b %q", b.read("mine.txt"), b.read("b.txt"))
	}
	if _, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller()}); err != nil {
		t.Fatal(err)
	}
	b.restore("@1", func(r *missions.RestoreRequest) { r.All = true })
	if b.read("mine.txt") != "(none)" {
		t.Errorf("--all: mine %q", b.read("mine.txt"))
	}
	b.healthy()
}

// TestRestoreRefusals are the reasons not to restore.
func TestRestoreRefusals(t *testing.T) {
	t.Parallel()
	b, c := newCommitted(t)
	refuse := func(name string, want missions.Kind, change ...func(*missions.RestoreRequest)) error {
		t.Helper()
		r := missions.RestoreRequest{Caller: b.caller(), Moment: "@1.0"}
		for _, c := range change {
			c(&r)
		}
		_, err := b.local.Restore(context.Background(), r)
		if err == nil || kindOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
		return err
	}
	refuse("both sides", missions.KindUsage, func(r *missions.RestoreRequest) { r.KeepOthers, r.All = true, true })
	refuse("neither half", missions.KindUsage, func(r *missions.RestoreRequest) { r.FilesOnly, r.ConversationOnly = true, true })
	refuse("unknown", missions.KindNotFound, func(r *missions.RestoreRequest) { r.Moment = "@9" })
	b.git("switch", "-qc", "other")
	if err := refuse("another branch", missions.KindConflict); err != nil && !strings.Contains(missions.AsError(err).Hint, "git switch main") {
		t.Errorf("hint: %s", missions.AsError(err).Hint)
	}
	hint := func(name, want string) {
		t.Helper()
		if err := refuse(name, missions.KindConflict); err != nil && !strings.HasPrefix(missions.AsError(err).Hint, want) {
			t.Errorf("%s: hint: %s, want %s", name, missions.AsError(err).Hint, want)
		}
	}
	elsewhere := filepath.Join(b.TempDir(), "elsewhere")
	b.git("worktree", "add", "-q", elsewhere, "main")
	hint("a branch that is checked out elsewhere", "branch main can't be checked out here while it is in "+elsewhere)
	b.git("worktree", "remove", elsewhere)
	b.git("branch", "-qm", "main", "trunk")
	hint("a branch that is gone", "git switch -c main "+strings.TrimSpace(b.git("rev-parse", "trunk"))[:10]+" makes")
	b.git("switch", "-qc", "main", "trunk")
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go on", "prompt_id": "x"})
	refuse("in a turn", missions.KindBusy)
	queued := b.restore("@1.0", func(r *missions.RestoreRequest) { r.WhenIdle = true })
	if !queued.Queued || b.read("a.txt") != "one\n" {
		t.Fatalf("queued: %+v", queued)
	}
	c.hook("Stop", map[string]any{"prompt_id": "x"})
	if got := b.read("a.txt"); got != "zero\n" {
		t.Errorf("the queued restore was not done: %q", got)
	}
	b.healthy()
}

// TestUndoOnRenamedBranch: an undo asks nothing about a branch that has another
// name since a snapshot, if the restore that it takes back was made on it.
func TestUndoOnRenamedBranch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q", "-b", "main")
	b.write("a.txt", "one\n")
	b.git("add", "-A")
	b.git("commit", "-qm", "first")
	b.mission("work")
	b.write("a.txt", "two\n")
	b.snapshot("on main")
	b.git("branch", "-qm", "main", "trunk")
	b.restore("work@start", func(r *missions.RestoreRequest) { r.Force = true })
	r, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller(), Mission: "work", Preview: true})
	if err != nil || len(r.Refused) > 0 {
		t.Errorf("preview: %+v %v", r.Refused, err)
	}
	if _, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller(), Mission: "work"}); err != nil {
		t.Error(err)
	}
	if got := b.read("a.txt"); got != "two\n" {
		t.Errorf("a.txt: %q", got)
	}
	b.git("switch", "-qc", "other")
	_, err = b.local.Redo(context.Background(), missions.UndoRequest{Caller: b.caller(), Mission: "work"})
	b.fails("redo on another branch", err, missions.KindConflict)
	if hint := missions.AsError(err).Hint; !strings.HasPrefix(hint, "git switch trunk") {
		t.Errorf("hint: %s", hint)
	}
	b.healthy()
}

// TestRestorePaths puts back one file and leaves the conversation alone.
func TestRestorePaths(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.write("dir/b.txt", "one\n")
	b.mission("work")
	b.write("a.txt", "two\n")
	b.write("dir/b.txt", "two\n")
	done := b.restore("work@start", func(r *missions.RestoreRequest) { r.Paths = []string{"dir"} })
	if !done.Done || b.read("a.txt") != "two\n" || b.read("dir/b.txt") != "one\n" {
		t.Errorf("%+v: a %q, b %q", done, b.read("a.txt"), b.read("dir/b.txt"))
	}
	b.healthy()
}

// TestUndoCounts refuses more steps than there are before it takes one.
func TestUndoCounts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	b.write("a.txt", "two\n")
	b.snapshot("two")
	b.write("b.txt", "b\n")
	b.snapshot("b")
	b.restore("work~1")
	b.restore("work@start")
	_, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller(), Steps: 3})
	if kindOf(err) != missions.KindNotFound || b.read("a.txt") != "one\n" {
		t.Fatalf("three of two: %v, a is %q", err, b.read("a.txt"))
	}
	done, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller(), Steps: 2})
	if err != nil || b.read("a.txt") != "two\n" || b.read("b.txt") != "b\n" {
		t.Fatalf("two of two: %v, a is %q, b is %q", err, b.read("a.txt"), b.read("b.txt"))
	}
	if strings.Join(done.Modify, " ") != "a.txt" || strings.Join(done.Create, " ") != "b.txt" {
		t.Errorf("what was done: %+v", done)
	}
	b.healthy()
}

// TestNeighbours refuse restore and undo while another mission, of whichever
// project, is in a turn in the same files.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "one\n")
	b.mission("work")
	b.write("a.txt", "two\n")
	b.snapshot("two")
	b.restore("work@start")
	inner := &testBench{T: t, local: b.local, user: b.user, home: b.home, dir: filepath.Join(b.dir, "inner")}
	inner.write("i.txt", "inner\n")
	inner.git("init", "-q")
	c := newTalker(inner)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p"})
	if _, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller(), Mission: "work"}); kindOf(err) != missions.KindBusy {
		t.Errorf("undo beside a turn: %v", err)
	}
	if _, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "work~1"}); kindOf(err) != missions.KindBusy {
		t.Errorf("restore beside a turn: %v", err)
	}
	if b.read("a.txt") != "one\n" {
		t.Error("a refused operation has changed files")
	}
}

// TestRestoreFromElsewhere asks about the user's own work also where the target
// is no moment of the mission's history.
func TestRestoreFromElsewhere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	result, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	b.write("mine.txt", "the user's\n")
	_, err = b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "other", Mission: result.Source.MissionName})
	if kindOf(err) != missions.KindConflict || !strings.Contains(err.Error(), "mine.txt") {
		t.Errorf("restore of a fork's moment: %v", err)
	}
	if b.read("mine.txt") != "the user's\n" {
		t.Error("a refused restore has changed files")
	}
}

// TestDoctorFindsStrays names a file that an operation has left in a workspace,
// and takes it away if what it holds is stored.
func TestDoctorFindsStrays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("dir/a.txt", "one\n")
	b.mission("work")
	b.write("dir/.umbra-00000000-0000-4000-8000-000000000001-3", "somebody's bytes\n")
	b.write("dir/.umbra-00000000-0000-4000-8000-000000000001-4", "one\n")
	doctor := func(fix bool) missions.DoctorResult {
		t.Helper()
		d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller(), Fix: fix})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := doctor(false); len(d.Problems) != 2 || d.Problems[0].Invariant != "I5" || !strings.Contains(d.Problems[0].Message, "dir/.umbra-") {
		t.Errorf("doctor: %+v", d.Problems)
	}
	if d := doctor(true); len(d.Problems) != 1 || len(d.Fixed) != 1 {
		t.Errorf("doctor --fix: %+v", d)
	}
	if b.read("dir/.umbra-00000000-0000-4000-8000-000000000001-3") != "somebody's bytes\n" {
		t.Error("bytes that are stored nowhere are gone")
	}
}

// TestRestoreOnAnotherFileSystem sets aside in the workspace itself, and leaves
// nothing there.
func TestRestoreOnAnotherFileSystem(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	elsewhere, err := os.MkdirTemp("/dev/shm", "umbra-missions-")
	if err != nil {
		t.Skipf("no file system in memory to have Umbra's home on: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(elsewhere) })
	b.home = elsewhere
	b = b.again()
	b.write("d/a.txt", "one\n")
	b.write("gone.txt", "one\n")
	b.mission("work")
	b.write("d/a.txt", "two\n")
	b.write("new.txt", "two\n")
	if err := os.Remove(filepath.Join(b.dir, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	b.snapshot("second")
	b.restore("work@start")
	if left := b.scratch(); len(left) > 0 {
		t.Errorf("after the restore: %v", left)
	}
	if _, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller(), Mission: "work"}); err != nil {
		t.Fatal(err)
	}
	if left := b.scratch(); len(left) > 0 {
		t.Errorf("%v were left behind", left)
	}
	b.healthy()
}

// TestRestoreOverUnbornHead: a repository that was made anew has no commit, and that
// is said.
func TestRestoreOverUnbornHead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q", "-b", "main")
	b.write("a", "one")
	b.git("add", "a")
	b.git("commit", "-q", "-m", "first")
	m := b.mission("work")
	b.write("a", "two")
	b.snapshot("edit")
	if err := os.RemoveAll(filepath.Join(b.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	b.git("init", "-q", "-b", "main")
	_, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Mission: m.ID, Moment: "work@start", All: true})
	if e := missions.AsError(err); err == nil || e.Kind != missions.KindConflict || !strings.Contains(e.Message, "HEAD is at no commit now") {
		t.Errorf("%v", err)
	}
}
