package missions

import (
	"context"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// begins marks the agent as one that is about to be ended.
func (k *keptAgent) begins(a asked, queued bool) (h *handover) {
	k.Helper()
	k.change(func(m *loaded) {
		var err error
		if h, err = k.local.beginHandover(context.Background(), m, a, queued); h == nil || err != nil {
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
	fails := func(k *keptAgent, queued bool) *loaded {
		k.Helper()
		h := k.begins(k.restoreOf("live@1"), queued)
		k.change(func(m *loaded) { m.live.Handover.Told = true })
		_, _, err := k.local.handOver(ended, k.state(), h)
		k.fails("a handover", err, KindFailed)
		m := k.state()
		if _, at := k.local.handing.Load(h.ID); at || m.live.Handover != nil {
			k.Errorf("it goes on: %+v", m.live.Handover)
		}
		return m
	}
	t.Run("queued", func(t *testing.T) {
		k := newKeptAgent(t)
		if m := fails(k, true); m.live.Pending != nil || !strings.Contains(m.live.NotRestored, "could not be ended") {
			t.Errorf("it waits for %v, and is said to be %q", m.live.Pending, m.live.NotRestored)
		}
	})
	t.Run("asked for", func(t *testing.T) {
		k := newKeptAgent(t)
		before := k.restoreOf("live@start")
		k.change(func(m *loaded) { m.live.Pending = &before })
		if m := fails(k, false); m.live.Pending == nil || m.live.Pending.String() != before.String() {
			t.Errorf("it waits for %v, before for %v", m.live.Pending, before)
		}
	})
}

// TestCancelBegun: what has begun is not canceled, but can be undone.
func TestCancelBegun(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.mark(k.restoreOf("live@1"), false)
	_, err := k.local.Cancel(context.Background(), CancelRequest{Caller: k.caller()})
	k.fails("a restore that has begun", err, KindBusy)
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
			_, _, err := k.local.handOver(context.Background(), k.state(), h)
			k.fails("a handover", err, KindConflict)
			m := k.state()
			if !m.relievable() || m.live.Handover != nil || m.live.Pending != nil {
				t.Errorf("its agent is %+v, the handover %+v, what waits %v", m.live.Agent, m.live.Handover, m.live.Pending)
			}
			if said := strings.Contains(m.live.NotRestored, "was not done"); said != queued {
				t.Errorf("it is said that %q", m.live.NotRestored)
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
	_, _, err := k.local.handOver(context.Background(), k.state(), h)
	k.fails("a handover", err, KindConflict)
	if said := k.state().live.NotRestored; !strings.Contains(said, "was not done") {
		t.Errorf("it is said that %q", said)
	}
}

// TestNothingBeginsInAnAgentThatIsToldToEnd: between its being told and its end it begins
// no tool.
func TestNothingBeginsInAnAgentThatIsToldToEnd(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	h := k.begins(k.restoreOf("live@1"), true)
	if _, _, err := k.local.confirm(context.Background(), k.state(), h); err != nil {
		t.Fatal(err)
	}
	r := k.hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": "q.txt"}, "tool_use_id": "toolu_queued"})
	if !strings.Contains(string(r.Output), "is ending this agent") || InTurn(k.state().life) {
		t.Errorf("the tool is answered with %s", r.Output)
	}
	done := k.keeps()
	if _, _, err := k.local.handOver(context.Background(), k.state(), h); err != nil {
		t.Fatal(err)
	}
	<-done
}

// TestEndedForNothing: an agent is not ended for what is not to be done any more.
func TestEndedForNothing(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	h := k.begins(k.restoreOf("live@1"), true)
	k.change(func(m *loaded) { m.live.Handover = nil })
	_, _, err := k.local.handOver(context.Background(), k.state(), h)
	k.fails("a handover", err, KindFailed)
	if m := k.state(); !m.relievable() {
		t.Errorf("its agent is %+v", m.live.Agent)
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
	if r, ended, err := k.local.handOver(context.Background(), k.state(), h); !r.Queued || ended || err != nil {
		t.Errorf("a handover: %+v, ended %v: %v", r, ended, err)
	}
	if m := k.state(); !m.relievable() || m.live.Handover != nil || m.live.Pending == nil {
		t.Fatalf("its agent is %+v, the handover %+v, what waits %v", m.live.Agent, m.live.Handover, m.live.Pending)
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
			r, ended, err := k.local.handOver(context.Background(), k.state(), h)
			if r.Queued != whenIdle || ended || (err == nil) != whenIdle {
				t.Errorf("a handover: %+v, ended %v: %v", r, ended, err)
			}
			if m := k.state(); !m.relievable() || m.live.Handover != nil || (m.live.Pending != nil) != whenIdle {
				t.Errorf("the handover is %+v, what waits %v", m.live.Handover, m.live.Pending)
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
	k.session, k.transcript = m.stored.Session, m.bind.Session
	h := k.begins(asked{Undo: &UndoRequest{Caller: k.caller(), Mission: k.id}}, true)
	k.hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": "q.txt"}, "tool_use_id": "toolu_queued"})
	k.write("q.txt", "queued\n")
	k.hook("Stop", nil)
	_, ended, err := k.local.handOver(context.Background(), k.state(), h)
	k.fails("a handover", err, KindConflict)
	if m := k.state(); ended || !m.relievable() || !strings.Contains(m.live.NotRestored, "was not done") {
		t.Errorf("ended %v, its agent is %+v, and it is said that %q", ended, m.live.Agent, m.live.NotRestored)
	}
}

// TestKeeperGoneBeforeTheAgentIsEnded: an agent that nobody would launch again is left
// alone; its user is told what to type in it.
func TestKeeperGoneBeforeTheAgentIsEnded(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	h := k.begins(k.restoreOf("live@1"), false)
	k.change(func(m *loaded) { m.live.Keeper = nil })
	r, ended, err := k.local.handOver(context.Background(), k.state(), h)
	if ended || err != nil || !r.Done || r.Handover == nil || r.Handover.How != "type" {
		t.Errorf("a handover: %+v, ended %v: %v", r, ended, err)
	}
	if m := k.state(); m.live.Agent.Liveness() != lock.Alive || m.live.Handover != nil {
		t.Errorf("its agent is %+v, the handover %+v", m.live.Agent, m.live.Handover)
	}
}
