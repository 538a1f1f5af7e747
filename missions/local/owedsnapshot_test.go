package local

import (
	"context"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// inDebt is a talker in the middle of its second turn, of whose mission a process that
// serves knows.
func inDebt(t *testing.T) (c *talker, m *projects.Mission) {
	t.Helper()
	c = startTalker(t)
	c.local.Watching = servedBlind{}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.hook("UserPromptSubmit", map[string]any{"prompt": "second", "prompt_id": "p2"})
	m, err := c.local.MissionByID(c.only().ID)
	if err != nil {
		t.Fatal(err)
	}
	return c, m
}

// owes notes that a mission has ended its second turn, and was not captured.
func (c *talker) owes(m *projects.Mission) {
	c.Helper()
	err := c.local.WithWorkspaceLock(context.Background(), m, func(m *projects.Mission) error {
		m.EnterLifecycle(missions.Idle{Turn: 2}, c.local.Now())
		c.local.SaveLiveStateOwing(m, c.local.NewOwedSnapshot(m, missions.TakeSnapshot{Lifecycle: m.Lifecycle, Trigger: missions.TriggerIdle, Message: "turn ended"}))
		return nil
	})
	if err != nil {
		c.Fatal(err)
	}
}

// makesUp tries to pay, and checks whether anything is owed then, and due.
func (c *talker) makesUp(owes, due bool) {
	c.Helper()
	if err := c.local.TakeOwedSnapshots(context.Background()); err != nil {
		c.Error(err)
	}
	if is, now := c.local.HasOwedSnapshots(); is != owes || now != due {
		c.Errorf("owes %v, due %v", is, now)
	}
}

// TestOwedStateIsOutdated: what a mission had come to when there was no room to note it
// is not what it has come to since.
func TestOwedStateIsOutdated(t *testing.T) {
	t.Parallel()
	c, m := inDebt(t)
	c.local.OwedRetries[m.ID] = &snapshots.OwedRetry{OwedSnapshot: projects.OwedSnapshot{Take: missions.TakeSnapshot{Trigger: missions.TriggerIdle}, Tip: m.Tip.ID.String()}, UnnotedLifecycle: missions.Idle{Turn: 1}}
	c.hook("PreToolUse", map[string]any{"tool_name": "Read", "tool_use_id": "t1", "tool_input": map[string]any{"file_path": "a.txt"}})
	c.makesUp(false, false)
	if now := c.only(); now.State != missions.StateRunning || now.Turn != 2 {
		t.Errorf("it has gone back to %s, turn %d", now.State, now.Turn)
	}
}

// TestOwedAndForeign: what is made up for long after a turn's end is not the turn's alone:
// others may have been at work meanwhile.
func TestOwedAndForeign(t *testing.T) {
	t.Parallel()
	for name, passed := range map[string]time.Duration{"soon": time.Second, "long after": time.Hour} {
		t.Run(name, func(t *testing.T) {
			c, m := inDebt(t)
			c.owes(m)
			c.write("a.txt", "the user's\n")
			c.local.Clock = func() time.Time { return time.Now().Add(passed) }
			c.makesUp(false, false)
			if now := c.only(); now.State != missions.StateIdle || now.Turn != 2 {
				t.Errorf("it is %s in turn %d", now.State, now.Turn)
			}
			_, err := c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: c.only().Name + "@1", FilesOnly: true})
			if passed > presence.LateSnapshotGrace {
				c.fails("a restore", err, missions.KindConflict)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOwedToANewProcess: what an earlier process owed is taken by the next one that serves.
func TestOwedToANewProcess(t *testing.T) {
	t.Parallel()
	c, m := inDebt(t)
	c.local.Watching = nil // and so it is gone, but for what is noted
	c.owes(m)
	c.local.Watching = servedBlind{}
	if owes, due := c.local.HasOwedSnapshots(); !owes || !due {
		t.Errorf("owes %v, due %v", owes, due)
	}
	c.makesUp(false, false)
	now, err := c.local.MissionByID(m.ID)
	if err != nil {
		t.Fatal(err)
	}
	if now.Tip.ID == m.Tip.ID || now.Live.OwedSnapshot != nil {
		t.Errorf("the newest is %s, and %+v is noted still", now.Tip.ID, now.Live.OwedSnapshot)
	}
}

// TestOwedWaits: what can't be taken is not tried at once again, and what fails for
// another reason is given up after a while.
func TestOwedWaits(t *testing.T) {
	t.Parallel()
	c, m := inDebt(t)
	c.owes(m)
	c.local.Space = home.NewSpace(c.local.Home, settings.Storage{}, func(string) (uint64, error) { return 0, nil })
	c.makesUp(true, false)
	c.makesUp(true, false)
	delete(c.local.OwedRetries, m.ID)
	c.local.OwedRetries["00000000-0000-4000-8000-000000000000"] = &snapshots.OwedRetry{}
	if err := c.local.TakeOwedSnapshots(context.Background()); err == nil {
		t.Error("nothing is said of a mission that is no more")
	}
	if owes, _ := c.local.HasOwedSnapshots(); owes {
		t.Error("what is owed to nobody is owed still")
	}
}
