package local

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// turn has one begin and end in the conversation, and a.txt be what it has written.
func (u unhookedAgent) turn(content string) {
	u.Helper()
	u.says(time.Now(), codexPrompt, codexDone)
	u.write("a.txt", content)
}

// IsInSession checks the number of the mission's turn.
func (u unhookedAgent) isIn(turn int) {
	u.Helper()
	if got := u.only().Turn; got != turn {
		u.Errorf("it is in turn %d, want %d", got, turn)
	}
}

// foreign checks how many paths a restore of the first turn's end would take that others
// have changed.
func (u unhookedAgent) foreign(want int) {
	u.Helper()
	r, err := u.local.Restore(context.Background(), missions.RestoreRequest{Caller: u.caller(), Moment: "c@1", Preview: true})
	if err != nil || len(r.Foreign) != want {
		u.Errorf("it would take %v for another's (%v)", r.Foreign, err)
	}
}

// TestUnhookedTurns: the turns of an agent without hooks are numbered by its conversation,
// also those of which several are seen at once, and none twice.
func TestUnhookedTurns(t *testing.T) {
	t.Parallel()
	u := startUnhooked(t)
	holds := func(moment, want string) {
		t.Helper()
		if got := u.cat(moment, "a.txt"); got != want {
			t.Errorf("%s has %q, want %q", moment, got, want)
		}
	}
	u.turn("one\n")
	u.tells(unhookedThread)
	u.isIn(1)
	u.tells(unhookedThread)
	u.sees(missions.SawQuiet, missions.StateIdle)
	u.isIn(1)
	u.turn("two\n")
	u.turn("three\n")
	u.tells(unhookedThread)
	u.isIn(3)
	holds("c@1", "one\n")
	holds("c@3", "three\n")
	holds("c@3.0", "one\n") // before what was said since
	if e := u.newest(); !strings.Contains(codexPrompt, e.Prompt) || e.Prompt == "" {
		t.Errorf("%s has the prompt %q, want what the conversation says", e.Address, e.Prompt)
	}
	u.write("a.txt", "and more\n")
	u.foreign(0)

	u.relaunch()
	u.sees(missions.SawQuiet, missions.StateIdle)
	u.isIn(3)
	u.turn("four\n")
	u.sees(missions.SawChange, missions.StateRunning)
	u.sees(missions.SawQuiet, missions.StateIdle)
	u.isIn(4)
	u.says(time.Now(), codexPrompt, codexDone)
	u.tell("c", missions.AgentExited{})
	u.isIn(5)
	u.healthy()
}

// TestUnhookedElsewhere: in another conversation, and in one whose user has gone back in
// it, what was said before does not count again.
func TestUnhookedElsewhere(t *testing.T) {
	t.Parallel()
	u := startUnhooked(t)
	u.turn("one\n")
	u.turn("two\n")
	u.tells(unhookedThread)
	u.tell("c", missions.AgentExited{})
	u.isIn(2)
	caller := u.caller()
	if _, err := u.local.Restore(context.Background(), missions.RestoreRequest{Caller: caller, Moment: "c@start", All: true}); err != nil {
		t.Fatal(err)
	}
	u.isIn(2)
	if _, err := u.local.Undo(context.Background(), missions.UndoRequest{Caller: caller}); err != nil {
		t.Fatal(err)
	}
	u.isIn(2)
	u.relaunch()
	long := time.Now().Add(-time.Hour)
	u.says(long, codexPrompt, codexDone) // the clock was set back
	u.tells(unhookedThread)
	u.isIn(3)

	before, err := os.ReadFile(u.rollout)
	if err != nil {
		t.Fatal(err)
	}
	u.turn("four\n")
	u.turn("five\n")
	u.tells(unhookedThread)
	u.isIn(5)
	u.put(u.rollout, string(before))
	u.says(time.Now(), codexPrompt, codexDone) // instead of both
	u.tells(unhookedThread)
	u.isIn(6)

	u.relaunch()
	const another = "01a20240-bbbb-70f3-8cf7-6473b39ae7cc"
	u.rollout = strings.Replace(u.rollout, unhookedThread, another, 1)
	u.says(time.Now(), `{"type":"session_meta","payload":{"id":"`+another+`"}}`)
	for range 9 {
		u.says(long, codexPrompt, codexDone)
	}
	u.says(time.Now(), codexPrompt, codexDone)
	u.tells(another)
	u.isIn(7)
	u.healthy()
}

// TestUnhookedTurnsOnce: a snapshot that fails after the conversation was counted numbers no
// turn twice and loses none.
func TestUnhookedTurnsOnce(t *testing.T) {
	t.Parallel()
	u := startUnhooked(t)
	u.turn("one\n")
	u.tells(unhookedThread)
	u.turn("two\n")
	u.turn("three\n")
	id, failed := u.only().ID, 0
	for n := int64(1); ; n++ {
		m, err := u.local.MissionByID(id)
		if err != nil {
			t.Fatal(err)
		}
		r := &snapshots.Request{Event: missions.TurnEnded{}, Done: make(chan struct{})}
		ctx := callOffAt(n)
		u.local.RunRequests(ctx, m.Project, id, []*snapshots.Request{r})
		ctx.cancel()
		if r.Err == nil {
			break
		}
		if u.only().Turn == 3 {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no snapshot failed after the conversation was counted")
	}
	u.isIn(3)
	u.turn("four\n")
	u.turn("five\n")
	u.tells(unhookedThread)
	var addresses []string
	for _, e := range u.history("c") {
		addresses = append(addresses, e.Address)
	}
	if !slices.Contains(addresses, "c@3") || !slices.Contains(addresses, "c@5") || u.only().Turn != 5 {
		t.Errorf("it is in turn %d, and has %s", u.only().Turn, addresses)
	}
	u.healthy()
}

// TestUnhookedTriedAgain: the second try counts what the first has counted.
func TestUnhookedTriedAgain(t *testing.T) {
	t.Parallel()
	u := startUnhooked(t)
	u.turn("one\n")
	u.turn("two\n")
	m, err := u.local.MissionByID(u.only().ID)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	err = u.local.WithWorkspaceLock(ctx, m, func(m *projects.Mission) error {
		m.Live.Numbering = &projects.TurnNumbering{} // as at a launch: the conversation was never counted
		w := &snapshots.WantedSnapshot{TakeSnapshot: missions.TakeSnapshot{Trigger: missions.TriggerIdle, Lifecycle: m.Lifecycle, Message: "quiet"}, Triggers: missions.Triggers{missions.TriggerIdle}}
		ws, err := u.local.RefreshWorkspace(ctx, m)
		if err != nil {
			return err
		}
		before, batch := *m, m.Project.Store.NewBatch()
		defer batch.Discard()
		captured, err := ws.CaptureFiles(ctx, m, batch)
		if err != nil {
			return err
		}
		if _, err := u.local.WriteSnapshot(ctx, m, w, ws, captured, batch); err != nil {
			return err
		}
		ws.ReturnCapture()
		ws.Scanner.Suspect()
		u.local.ResetMission(m, before)
		if _, err := u.local.TryTakeSnapshot(ctx, m, w, ws); err != nil {
			return err
		}
		u.local.SaveLiveStateOwing(m, nil)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	u.isIn(2)
	u.healthy()
}

// TestUnhookedOwners: what its user changes while there is no agent, or none any more, is
// not the agent's.
func TestUnhookedOwners(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]missions.Event{"closed": missions.AgentExited{}, "gone": missions.AgentVanished{LongAgo: true}} {
		t.Run(name, func(t *testing.T) {
			u := startUnhooked(t)
			u.turn("one\n")
			u.tells(unhookedThread)
			u.turn("two\n")
			u.tells(unhookedThread)
			if _, gone := end.(missions.AgentVanished); !gone {
				u.tell("c", end)
			}
			u.write("a.txt", "the user's own\n")
			if _, gone := end.(missions.AgentVanished); gone {
				u.tell("c", end)
			}
			u.foreign(1)
			u.relaunch()
			u.foreign(1)
			u.turn("three\n")
			u.tells(unhookedThread)
			u.foreign(1)
		})
	}
}

// TestUnhookedOwnersSince: what the agent does from its next launch on is its own.
func TestUnhookedOwnersSince(t *testing.T) {
	t.Parallel()
	u := startUnhooked(t)
	u.turn("one\n")
	u.tells(unhookedThread)
	u.tell("c", missions.AgentExited{})
	u.relaunch()
	u.turn("two\n")
	u.tells(unhookedThread)
	u.foreign(0)
	u.tell("c", missions.AgentExited{})
	u.write("b.txt", "the user's own\n")
	u.relaunch()
	u.turn("three\n")
	u.tells(unhookedThread)
	r, err := u.local.Restore(context.Background(), missions.RestoreRequest{Caller: u.caller(), Moment: "c@1", Preview: true})
	if err != nil || len(r.Foreign) != 1 || r.Foreign[0].Path != "b.txt" {
		t.Errorf("it would take %v for another's (%v)", r.Foreign, err)
	}
}

// TestUnhookedUndoWhenIdle: an undo that was asked for in a turn is done at its end, though
// the turn had no number then.
func TestUnhookedUndoWhenIdle(t *testing.T) {
	t.Parallel()
	u := startUnhooked(t)
	u.turn("one\n")
	u.tells(unhookedThread)
	u.turn("two\n")
	u.tells(unhookedThread)
	caller := u.caller()
	if _, err := u.local.Restore(context.Background(), missions.RestoreRequest{Caller: caller, Moment: "c@1", FilesOnly: true}); err != nil {
		t.Fatal(err)
	}
	u.says(time.Now(), `{"type":"event_msg","payload":{"type":"task_started","turn_id":"t3"}}`, codexPrompt)
	u.sees(missions.SawChange, missions.StateRunning)
	if r, err := u.local.Undo(context.Background(), missions.UndoRequest{Caller: caller, WhenIdle: true}); err != nil || !r.Queued {
		t.Fatalf("%+v %v", r, err)
	}
	u.says(time.Now(), codexDone)
	u.tells(unhookedThread)
	if got := u.read("a.txt"); got != "two\n" {
		t.Errorf("after the undo a.txt is %q: %s", got, u.only().Problems)
	}
}

// TestUnhookedThenHooked: a turn that the conversation has numbered is the one that a hook
// tells of.
func TestUnhookedThenHooked(t *testing.T) {
	t.Parallel()
	u := startUnhooked(t)
	u.relaunch()
	u.says(time.Now(), `{"type":"event_msg","payload":{"type":"task_started","turn_id":"t1"}}`, codexPrompt, codexCall)
	u.write("a.txt", "one\n")
	u.sees(missions.SawQuiet, missions.StateRunning)
	u.isIn(1)
	u.hears(toolHook, u.only().SessionID, u.rollout, u.dir)
	u.isIn(1)
}

// TestUnhookedBeside: turns that were counted beside a snapshot, since they were too much
// for it, have their numbers with the next one.
func TestUnhookedBeside(t *testing.T) {
	t.Parallel()
	u := startUnhooked(t)
	u.turn("one\n")
	u.tells(unhookedThread)
	u.local.MaxCountedBytes = 400
	u.turn("two\n")
	u.turn("three\n")
	u.turn("four\n")
	u.tells(unhookedThread)
	u.local.Workers.Wait()
	u.local.MaxCountedBytes = 4 << 20
	u.write("b.txt", "b")
	u.tells(unhookedThread)
	u.isIn(4)
}
