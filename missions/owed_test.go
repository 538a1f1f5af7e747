package missions

import (
	"context"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions/settings"
)

// inDebt is a talker in the middle of its second turn, of whose mission a process that
// serves knows.
func inDebt(t *testing.T) (c *talker, m *loaded) {
	t.Helper()
	c = startTalker(t)
	c.local.watching = servedBlind{}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.hook("UserPromptSubmit", map[string]any{"prompt": "second", "prompt_id": "p2"})
	m, err := c.local.missionByID(c.only().ID)
	if err != nil {
		t.Fatal(err)
	}
	return c, m
}

// owes notes that a mission has ended its second turn, and was not captured.
func (c *talker) owes(m *loaded) {
	c.Helper()
	err := c.local.holding(context.Background(), m, func(m *loaded) error {
		m.enter(Idle{Turn: 2}, c.local.now())
		c.local.saveOwing(m, c.local.debtOf(m, Take{Of: m.life, Trigger: TriggerIdle, What: "turn ended"}))
		return nil
	})
	if err != nil {
		c.Fatal(err)
	}
}

// makesUp tries to pay, and checks whether anything is owed then, and due.
func (c *talker) makesUp(owes, due bool) {
	c.Helper()
	if err := c.local.MakeUp(context.Background()); err != nil {
		c.Error(err)
	}
	if is, now := c.local.Owes(); is != owes || now != due {
		c.Errorf("owes %v, due %v", is, now)
	}
}

// TestOwedStateIsOutdated: what a mission had come to when there was no room to note it
// is not what it has come to since.
func TestOwedStateIsOutdated(t *testing.T) {
	t.Parallel()
	c, m := inDebt(t)
	c.local.owed[m.ID] = &owing{debt: debt{Take: Take{Trigger: TriggerIdle}, Tip: m.tip.ID.String()}, unnoted: Idle{Turn: 1}}
	c.hook("PreToolUse", map[string]any{"tool_name": "Read", "tool_use_id": "t1", "tool_input": map[string]any{"file_path": "a.txt"}})
	c.makesUp(false, false)
	if now := c.only(); now.State != StateRunning || now.Turn != 2 {
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
			c.local.clock = func() time.Time { return time.Now().Add(passed) }
			c.makesUp(false, false)
			if now := c.only(); now.State != StateIdle || now.Turn != 2 {
				t.Errorf("it is %s in turn %d", now.State, now.Turn)
			}
			_, err := c.local.Restore(context.Background(), RestoreRequest{Caller: c.caller(), Moment: c.only().Name + "@1", FilesOnly: true})
			if passed > madeUpSoon {
				c.fails("a restore", err, KindConflict)
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
	c.local.watching = nil // and so it is gone, but for what is noted
	c.owes(m)
	c.local.watching = servedBlind{}
	if owes, due := c.local.Owes(); !owes || !due {
		t.Errorf("owes %v, due %v", owes, due)
	}
	c.makesUp(false, false)
	now, err := c.local.missionByID(m.ID)
	if err != nil {
		t.Fatal(err)
	}
	if now.tip.ID == m.tip.ID || now.live.Owed != nil {
		t.Errorf("the newest is %s, and %+v is noted still", now.tip.ID, now.live.Owed)
	}
}

// TestOwedWaits: what can't be taken is not tried at once again, and what fails for
// another reason is given up after a while.
func TestOwedWaits(t *testing.T) {
	t.Parallel()
	c, m := inDebt(t)
	c.owes(m)
	c.local.space = NewSpace(c.local.home, settings.Storage{}, func(string) (uint64, error) { return 0, nil })
	c.makesUp(true, false)
	c.makesUp(true, false)
	delete(c.local.owed, m.ID)
	c.local.owed["00000000-0000-4000-8000-000000000000"] = &owing{}
	if err := c.local.MakeUp(context.Background()); err == nil {
		t.Error("nothing is said of a mission that is no more")
	}
	if owes, _ := c.local.Owes(); owes {
		t.Error("what is owed to nobody is owed still")
	}
}
