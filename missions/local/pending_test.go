package local

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
)

// TestQueuedRestoreThatCanNotBeDone is refused at once where that can be known,
// and is shown and told to the agent where it turns out later.
func TestQueuedRestoreThatCanNotBeDone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.git("init", "-q", "-b", "main")
	b.write("a.txt", "zero\n")
	b.git("add", "-A")
	b.git("commit", "-qm", "c")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	problems := func() string {
		t.Helper()
		list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()})
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v %v", list, err)
		}
		return strings.Join(list[0].Problems, "\n")
	}
	whenIdle := func(r *missions.RestoreRequest) { r.WhenIdle = true }
	c.hook("UserPromptSubmit", map[string]any{"prompt": "second", "prompt_id": "p2"})
	b.git("switch", "-qc", "other")
	_, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "@1.0", WhenIdle: true})
	b.fails("queued on another branch", err, missions.KindConflict)
	b.git("switch", "-q", "main")
	if r := b.restore("@1.0", whenIdle); !r.Queued {
		t.Fatalf("%+v", r)
	}
	b.git("switch", "-q", "other")
	c.hook("Stop", map[string]any{"prompt_id": "p2"})
	if got := b.read("a.txt"); got != "one\n" {
		t.Errorf("a refused restore was done: %q", got)
	}
	if p := problems(); !strings.Contains(p, "was not done") || !strings.Contains(p, "git switch main") || strings.Contains(p, "\n") {
		t.Errorf("problems: %q", p)
	}
	result := c.hook("UserPromptSubmit", map[string]any{"prompt": "third", "prompt_id": "p3"})
	if !strings.Contains(string(result.Output), "was not done") {
		t.Errorf("the agent is told %s", result.Output)
	}
	c.hook("Stop", map[string]any{"prompt_id": "p3"})
	if p := problems(); !strings.Contains(p, "was not done") {
		t.Errorf("the next events have cleared it: %q", p)
	}
	b.git("switch", "-q", "main")
	b.restore("@1.0", func(r *missions.RestoreRequest) { r.Force = true })
	if p := problems(); p != "" {
		t.Errorf("problems after a restore: %q", p)
	}
	b.healthy()
}

// inTurnTwo is a bench whose agent has done one turn, and works at its second: a
// restore to where the first began waits for the end of that.
func inTurnTwo(t *testing.T) *talker {
	t.Helper()
	c := startTalker(t)
	c.write("a.txt", "zero\n")
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "a.txt", "two\n")
	c.hook("UserPromptSubmit", map[string]any{"prompt": "third", "prompt_id": "p3"})
	c.write("a.txt", "three\n")
	r, err := c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: "@1.0", FilesOnly: true, WhenIdle: true})
	if err != nil || !r.Queued {
		t.Fatalf("queued: %+v %v", r, err)
	}
	return c
}

// TestLaterRestoreDropsWhatIsQueued: the end of the turn does not take back what was
// forced in its middle, after a restore had been queued.
func TestLaterRestoreDropsWhatIsQueued(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do   func(*talker) (missions.RestoreResult, error)
		want string
	}{
		"files": {func(c *talker) (missions.RestoreResult, error) {
			return c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: "@1", FilesOnly: true, Force: true})
		}, "one\n"},
		"one path": {func(c *talker) (missions.RestoreResult, error) {
			return c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: "@1", Paths: []string{"a.txt"}, Force: true})
		}, "one\n"},
		"nothing differs": {func(c *talker) (missions.RestoreResult, error) {
			c.write("a.txt", "two\n")
			return c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: "@2", FilesOnly: true, Force: true})
		}, "two\n"},
		"undo": {func(c *talker) (missions.RestoreResult, error) {
			if _, err := c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: "@1", FilesOnly: true, Force: true}); err != nil {
				return missions.RestoreResult{}, err
			}
			if _, err := c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: "@1.0", FilesOnly: true, WhenIdle: true}); err != nil {
				return missions.RestoreResult{}, err
			}
			return c.local.Undo(context.Background(), missions.UndoRequest{Caller: c.caller(), Force: true})
		}, "three\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c := inTurnTwo(t)
			if r, err := test.do(c); err != nil || !r.Done {
				t.Fatalf("forced: %+v %v", r, err)
			}
			if m := c.only(); m.PendingAction != "" {
				t.Errorf("still queued: %s", m.PendingAction)
			}
			c.hook("Stop", map[string]any{"prompt_id": "p3"})
			if got := c.read("a.txt"); got != test.want {
				t.Errorf("after the turn a.txt is %q, want %q", got, test.want)
			}
			c.healthy()
		})
	}
}

// TestCancelQueued: what waits for the end of the turn can be taken back until then.
func TestCancelQueued(t *testing.T) {
	t.Parallel()
	c := inTurnTwo(t)
	got, err := c.local.Cancel(context.Background(), missions.CancelRequest{Caller: c.caller()})
	m := c.only()
	if err != nil || got.Mission != m.ID || got.Name != m.Name || !strings.HasPrefix(got.Action, "restore ") || m.PendingAction != "" {
		t.Errorf("canceled: %+v %v, and there waits %q", got, err, m.PendingAction)
	}
	_, err = c.local.Cancel(context.Background(), missions.CancelRequest{Caller: c.caller()})
	c.fails("a second time", err, missions.KindNotFound)
	c.hook("Stop", map[string]any{"prompt_id": "p3"})
	if got := c.read("a.txt"); got != "three\n" {
		t.Errorf("after the turn a.txt is %q", got)
	}
	c.healthy()
}

// stateNow is the only mission as it is stored.
func (b *testBench) stateNow() *projects.Mission {
	b.Helper()
	m, err := b.local.MissionByID(b.only().ID)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// TestQueuedOutlivesItsProcess: what waits for the end of the turn is known until it is
// done, and done by the next process where the one that was at it was killed.
func TestQueuedOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(*talker){
		"before it was written down": func(*talker) {},
		"while it was staged": func(c *talker) {
			c.cutOff(c.only().ID, "@1.0", func(w *restores.RestoreWork) error { return w.Stage(context.Background()) })
		},
		"while it was applied": func(c *talker) { c.cutOff(c.only().ID, "@1.0", applied) },
	} {
		t.Run(name, func(t *testing.T) {
			c := inTurnTwo(t)
			waits := c.stateNow().Live.QueuedRestore
			c.local.RestoreStep = func(string) error {
				if again := c.again().stateNow(); missions.InTurn(again.Lifecycle) || again.Live.QueuedRestore == nil {
					t.Errorf("a process that is killed now leaves %s, and waiting %v", c.only().State, again.Live.QueuedRestore)
				}
				return errors.New("as if it were killed")
			}
			c.hook("Stop", map[string]any{"prompt_id": "p3"})
			c.local.RestoreStep = nil
			err := c.local.WithWorkspaceLock(context.Background(), c.stateNow(), func(m *projects.Mission) error {
				m.Live.QueuedRestore, m.Live.NotRestoredReason, m.Notes = waits, "", nil
				c.local.SaveLiveState(m)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			cut(c)
			again := c.again()
			if err := again.local.Recover(context.Background()); err != nil {
				t.Fatal(err)
			}
			if m := again.stateNow(); m.Live.QueuedRestore != nil || m.Live.NotRestoredReason != "" || c.read("a.txt") != "zero\n" {
				t.Errorf("recovered, a.txt is %q, there waits %v, and not done was %q", c.read("a.txt"), m.Live.QueuedRestore, m.Live.NotRestoredReason)
			}
			again.healthy()
		})
	}
}

// TestQueuedDecidesNothing: an undo that waits for the end of a turn, and that was cut
// off, is not taken up where people have gone on working: that is left to the user.
func TestQueuedDecidesNothing(t *testing.T) {
	t.Parallel()
	c := inTurnTwo(t)
	c.hook("Stop", map[string]any{"prompt_id": "p3"}) // it was restored to @1.0
	c.cutOff(c.only().ID, "@2", applying)
	c.write("a.txt", "by hand\n")
	err := c.local.WithWorkspaceLock(context.Background(), c.stateNow(), func(m *projects.Mission) error {
		m.Live.QueuedRestore = &projects.Action{Undo: &missions.UndoRequest{Caller: c.caller(), Mission: m.ID}}
		c.local.SaveLiveState(m)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	again := c.again()
	if err := again.local.Recover(context.Background()); err == nil || !strings.Contains(err.Error(), "people have gone on working") {
		t.Fatalf("recovered: %v", err)
	}
	waiting := func() (list []string) {
		entries, _, err := again.local.Journal.List()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if phase, _ := e.Phase(); phase == journal.Interrupted {
				list = append(list, e.ID())
			}
		}
		return list
	}
	if m := again.stateNow(); m.Live.QueuedRestore != nil || !strings.Contains(m.Live.NotRestoredReason, "was cut off") || len(waiting()) != 1 || c.read("a.txt") != "by hand\n" {
		t.Errorf("a.txt is %q, %d operations wait for a decision, %v for a turn's end, and not done was %q", c.read("a.txt"), len(waiting()), m.Live.QueuedRestore, m.Live.NotRestoredReason)
	}
	if _, err := again.local.Undo(context.Background(), missions.UndoRequest{Caller: c.caller()}); err != nil || len(waiting()) != 0 {
		t.Errorf("taken back by the user: %v", err)
	}
	again.healthy()
}

// TestWhatIsQueuedStays where what was asked for since was not done.
func TestWhatIsQueuedStays(t *testing.T) {
	t.Parallel()
	forced := missions.RestoreRequest{Moment: "@1", FilesOnly: true, Force: true}
	for name, do := range map[string]func(*talker) error{
		"preview": func(c *talker) error {
			r := forced
			r.Caller, r.Preview = c.caller(), true
			_, err := c.local.Restore(context.Background(), r)
			return err
		},
		"failed": func(c *talker) error {
			c.local.RestoreStep = func(string) error { return errors.New("the disk is broken") }
			defer func() { c.local.RestoreStep = nil }()
			r := forced
			r.Caller = c.caller()
			if _, err := c.local.Restore(context.Background(), r); err == nil {
				return errors.New("it was done")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := inTurnTwo(t)
			if err := do(c); err != nil {
				t.Fatal(err)
			}
			c.hook("Stop", map[string]any{"prompt_id": "p3"})
			if got := c.read("a.txt"); got != "zero\n" {
				t.Errorf("what was queued was not done: a.txt is %q", got)
			}
			c.healthy()
		})
	}
}

// TestQueuedDuringAHandover: an agent that is being ended for one restore reaches the
// end of its turn. What had waited for that does not come first, and nothing new can
// be queued for it.
func TestQueuedDuringAHandover(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.hook("UserPromptSubmit", map[string]any{"prompt": "third", "prompt_id": "p3"})
	queued := missions.RestoreRequest{Caller: k.caller(), Moment: "live@start", WhenIdle: true}
	if r, err := k.local.Restore(context.Background(), queued); err != nil || !r.Queued {
		t.Fatalf("queued: %+v %v", r, err)
	}
	h := k.mark(k.restoreOf("live@1"), false)
	k.own()
	_, err := k.local.Restore(context.Background(), queued)
	k.fails("queued beside a handover", err, missions.KindBusy)
	k.hook("Stop", map[string]any{"prompt_id": "p3"})
	if m := k.state(); m.Live.NotRestoredReason != "" || m.Live.QueuedRestore == nil {
		t.Errorf("the end of the turn: %q, pending %v", m.Live.NotRestoredReason, m.Live.QueuedRestore)
	}
	_ = k.agent.Process.Kill()
	if _, err := k.local.CompleteHandover(context.Background(), k.state(), h.ID); err != nil {
		t.Fatal(err)
	}
	k.relaunched(k.end())
	if m := k.state(); m.Live.QueuedRestore != nil {
		t.Errorf("still queued: %v", m.Live.QueuedRestore)
	}
}

// TestRestoreAfterOneThatWasNotDone: the agent is not told any more of what a later
// restore has made up for.
func TestRestoreAfterOneThatWasNotDone(t *testing.T) {
	t.Parallel()
	c := inTurnTwo(t)
	c.local.RestoreStep = func(string) error { return errors.New("the disk is broken") }
	c.hook("Stop", map[string]any{"prompt_id": "p3"})
	c.local.RestoreStep = nil
	if m := c.only(); !strings.Contains(strings.Join(m.Problems, "\n"), "was not done") {
		t.Fatalf("problems: %q", m.Problems)
	}
	c.restore("@1.0", func(r *missions.RestoreRequest) { r.FilesOnly, r.All = true, true })
	result := c.hook("UserPromptSubmit", map[string]any{"prompt": "fourth", "prompt_id": "p4"})
	if m := c.only(); len(m.Problems) > 0 || strings.Contains(string(result.Output), "was not done") {
		t.Errorf("problems %q, the agent is told %s", m.Problems, result.Output)
	}
	c.hook("Stop", map[string]any{"prompt_id": "p4"})
	c.healthy()
}
