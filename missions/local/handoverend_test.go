package local

import (
	"context"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// begins marks the agent as one that is about to be ended.
func (k *keptAgent) begins(a projects.Action, queued bool) (h *projects.Handover) {
	k.Helper()
	k.change(func(m *projects.Mission) {
		var err error
		if h, err = k.local.BeginHandover(context.Background(), m, a, queued); h == nil || err != nil {
			k.Fatal(h, err)
		}
	})
	return h
}

// TestAgentThatCanNotBeEnded: what was to be done then is not forgotten. What was
// queued is said not to be done, and what was asked for since leaves what was queued
// before it as it was.
func TestAgentThatCanNotBeEnded(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(context.Background())
	cancel() // nobody waits for the agent's end
	fails := func(k *keptAgent, queued bool) *projects.Mission {
		k.Helper()
		h := k.begins(k.restoreOf("live@1"), queued)
		k.change(func(m *projects.Mission) { m.Live.Handover.ToldToEnd = true })
		_, _, err := k.local.CarryOutHandover(ended, k.state(), h)
		k.fails("a handover", err, missions.KindFailed)
		m := k.state()
		if _, at := k.local.Handovers.Load(h.ID); at || m.Live.Handover != nil {
			k.Errorf("it goes on: %+v", m.Live.Handover)
		}
		return m
	}
	t.Run("queued", func(t *testing.T) {
		k := newKeptAgent(t)
		if m := fails(k, true); m.Live.QueuedRestore != nil || !strings.Contains(m.Live.NotRestoredReason, "could not be ended") {
			t.Errorf("it waits for %v, and is said to be %q", m.Live.QueuedRestore, m.Live.NotRestoredReason)
		}
	})
	t.Run("asked for", func(t *testing.T) {
		k := newKeptAgent(t)
		before := k.restoreOf("live@start")
		k.change(func(m *projects.Mission) { m.Live.QueuedRestore = &before })
		if m := fails(k, false); m.Live.QueuedRestore == nil || m.Live.QueuedRestore.String() != before.String() {
			t.Errorf("it waits for %v, before for %v", m.Live.QueuedRestore, before)
		}
	})
}

// TestCancelBegun: what has begun is not canceled, but can be undone.
func TestCancelBegun(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.mark(k.restoreOf("live@1"), false)
	_, err := k.local.Cancel(context.Background(), missions.CancelRequest{Caller: k.caller()})
	k.fails("a restore that has begun", err, missions.KindBusy)
}

// TestAgentIsNotEndedInVain: what can't be done any more when the agent is about to be
// told to end leaves it alone, and says so.
func TestAgentIsNotEndedInVain(t *testing.T) {
	t.Parallel()
	for name, queued := range map[string]bool{"queued": true, "asked for": false} {
		t.Run(name, func(t *testing.T) {
			k := newKeptAgent(t)
			h := k.begins(k.restoreOf("live@1"), queued)
			k.write("mine.txt", "the user's\n")
			_, _, err := k.local.CarryOutHandover(context.Background(), k.state(), h)
			k.fails("a handover", err, missions.KindConflict)
			m := k.state()
			if !presence.CanRelaunchAgent(m) || m.Live.Handover != nil || m.Live.QueuedRestore != nil {
				t.Errorf("its agent is %+v, the handover %+v, what waits %v", m.Live.Agent, m.Live.Handover, m.Live.QueuedRestore)
			}
			if said := strings.Contains(m.Live.NotRestoredReason, "was not done"); said != queued {
				t.Errorf("it is said that %q", m.Live.NotRestoredReason)
			}
		})
	}
}

// TestRefusedFromInside: who asks for a restore inside the agent is told that it is ended
// for it. Where it is not, that is said too.
func TestRefusedFromInside(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	a := k.restoreOf("live@1")
	a.Restore.Caller.Mission = k.id
	h := k.begins(a, false)
	k.write("mine.txt", "the user's\n")
	_, _, err := k.local.CarryOutHandover(context.Background(), k.state(), h)
	k.fails("a handover", err, missions.KindConflict)
	if said := k.state().Live.NotRestoredReason; !strings.Contains(said, "was not done") {
		t.Errorf("it is said that %q", said)
	}
}

// TestNothingBeginsInAnAgentThatIsToldToEnd: between its being told and its end it begins
// no tool.
func TestNothingBeginsInAnAgentThatIsToldToEnd(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	h := k.begins(k.restoreOf("live@1"), true)
	if _, _, err := k.local.ConfirmHandover(context.Background(), k.state(), h); err != nil {
		t.Fatal(err)
	}
	r := k.hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": "q.txt"}, "tool_use_id": "toolu_queued"})
	if !strings.Contains(string(r.Output), "is ending this agent") || missions.InTurn(k.state().Lifecycle) {
		t.Errorf("the tool is answered with %s", r.Output)
	}
	done := k.keeps()
	if _, _, err := k.local.CarryOutHandover(context.Background(), k.state(), h); err != nil {
		t.Fatal(err)
	}
	<-done
}

// TestEndedForNothing: an agent is not ended for what is not to be done any more.
func TestEndedForNothing(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	h := k.begins(k.restoreOf("live@1"), true)
	k.change(func(m *projects.Mission) { m.Live.Handover = nil })
	_, _, err := k.local.CarryOutHandover(context.Background(), k.state(), h)
	k.fails("a handover", err, missions.KindFailed)
	if m := k.state(); !presence.CanRelaunchAgent(m) {
		t.Errorf("its agent is %+v", m.Live.Agent)
	}
}

// TestNextTurnBeginsBeforeTheAgentIsEnded: an agent goes on at once with a prompt that
// was queued. What waited for the end of its turn is done when that one has ended.
func TestNextTurnBeginsBeforeTheAgentIsEnded(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	h := k.begins(k.restoreOf("live@1"), true)
	k.hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": "q.txt"}, "tool_use_id": "toolu_queued"})
	k.write("q.txt", "queued\n")
	if r, ended, err := k.local.CarryOutHandover(context.Background(), k.state(), h); !r.Queued || ended || err != nil {
		t.Errorf("a handover: %+v, ended %v: %v", r, ended, err)
	}
	if m := k.state(); !presence.CanRelaunchAgent(m) || m.Live.Handover != nil || m.Live.QueuedRestore == nil {
		t.Fatalf("its agent is %+v, the handover %+v, what waits %v", m.Live.Agent, m.Live.Handover, m.Live.QueuedRestore)
	}
	k.hook("Stop", nil)
	k.relaunched(k.end())
	if got := k.read("q.txt"); got != "(none)" {
		t.Errorf("after the restore q.txt is %q", got)
	}
}

// TestTurnBeginsBeforeARestore: what may wait for the end of a turn waits though none ran
// when it was asked for; what may not is refused.
func TestTurnBeginsBeforeARestore(t *testing.T) {
	t.Parallel()
	for name, whenIdle := range map[string]bool{"may wait": true, "may not": false} {
		t.Run(name, func(t *testing.T) {
			k := newKeptAgent(t)
			a := k.restoreOf("live@1")
			a.Restore.WhenIdle = whenIdle
			h := k.begins(a, false)
			k.hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": "q.txt"}, "tool_use_id": "toolu_queued"})
			r, ended, err := k.local.CarryOutHandover(context.Background(), k.state(), h)
			if r.Queued != whenIdle || ended || (err == nil) != whenIdle {
				t.Errorf("a handover: %+v, ended %v: %v", r, ended, err)
			}
			if m := k.state(); !presence.CanRelaunchAgent(m) || m.Live.Handover != nil || (m.Live.QueuedRestore != nil) != whenIdle {
				t.Errorf("the handover is %+v, what waits %v", m.Live.Handover, m.Live.QueuedRestore)
			}
		})
	}
}

// TestUndoThatATurnRefuses: an agent is not ended for an undo that a turn which has come
// and gone meanwhile is in the way of.
func TestUndoThatATurnRefuses(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	done := k.keeps()
	k.restore("live@1")
	<-done
	m := k.state()
	k.session, k.transcript = m.Stored.Session, m.Binding.SessionPath
	h := k.begins(projects.Action{Undo: &missions.UndoRequest{Caller: k.caller(), Mission: k.id}}, true)
	k.hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": "q.txt"}, "tool_use_id": "toolu_queued"})
	k.write("q.txt", "queued\n")
	k.hook("Stop", nil)
	_, ended, err := k.local.CarryOutHandover(context.Background(), k.state(), h)
	k.fails("a handover", err, missions.KindConflict)
	if m := k.state(); ended || !presence.CanRelaunchAgent(m) || !strings.Contains(m.Live.NotRestoredReason, "was not done") {
		t.Errorf("ended %v, its agent is %+v, and it is said that %q", ended, m.Live.Agent, m.Live.NotRestoredReason)
	}
}

// TestKeeperGoneBeforeTheAgentIsEnded: an agent that nobody would launch again is left
// alone; its user is told what to type in it.
func TestKeeperGoneBeforeTheAgentIsEnded(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	h := k.begins(k.restoreOf("live@1"), false)
	k.change(func(m *projects.Mission) { m.Live.Keeper = nil })
	r, ended, err := k.local.CarryOutHandover(context.Background(), k.state(), h)
	if ended || err != nil || !r.Done || r.Handover == nil || r.Handover.How != "type" {
		t.Errorf("a handover: %+v, ended %v: %v", r, ended, err)
	}
	if m := k.state(); m.Live.Agent.Liveness() != lock.Alive || m.Live.Handover != nil {
		t.Errorf("its agent is %+v, the handover %+v", m.Live.Agent, m.Live.Handover)
	}
}

// TestHandoverFromInside answers whoever asks from inside the agent before that is
// ended.
func TestHandoverFromInside(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	done := k.keeps()
	r := k.restore("live@1", func(r *missions.RestoreRequest) { r.Caller.Mission = k.id })
	if !r.Queued || r.Done || r.Handover == nil || r.Handover.How != "relaunched" {
		t.Errorf("restored: %+v", r)
	}
	if next := <-done; next.Do != missions.DoRelaunch || k.read("a.txt") != "one\n" {
		t.Errorf("next: %+v, a.txt %q", next, k.read("a.txt"))
	}
	k.healthy()
}
