package missions

import (
	"context"
	"os"
	"runtime"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// TestHandoverThatNobodyIsLeftFor: who asked for it died, then the keeper. The agent
// goes on, or ends, and no handover is said to be under way for ever; what had
// waited for the end of a turn is done.
func TestHandoverThatNobodyIsLeftFor(t *testing.T) {
	for name, leave := range map[string]func(*keptAgent){
		"it ends": func(k *keptAgent) { k.hook("SessionEnd", map[string]any{"reason": "other"}) },
		"a turn":  func(k *keptAgent) { k.takeTurn("third", "b.txt", "three\n") },
		"recovered": func(k *keptAgent) {
			if err := k.local.Recover(context.Background()); err != nil {
				k.Fatal(err)
			}
		},
	} {
		for _, queued := range []bool{false, true} {
			k := newKeptAgent(t)
			k.mark(k.restoreOf("live@1"), queued)
			gone := lock.Process(os.Getpid(), "")
			gone.Start++ // another process has its pid now
			k.change(func(m *loaded) { m.live.Keeper = &gone })
			leave(k)
			if m := k.state(); m.live.Handover != nil || m.live.Pending != nil || k.restores() > 0 != queued {
				t.Errorf("%s, queued %v: %+v, %d restores", name, queued, m.live, k.restores())
			}
			k.healthy()
		}
	}
}

// TestHandoverBegunAsTheAgentEnds: a handover that begins while a keeper tells of its
// agent's end, which came by itself, is not dropped by that.
func TestHandoverBegunAsTheAgentEnds(t *testing.T) {
	k := newKeptAgent(t)
	a := k.restoreOf("live@1")
	_ = k.agent.Process.Kill()
	told := make(chan Next, 1)
	k.change(func(m *loaded) { // the mission is held
		go func() { told <- k.end() }()
		for q := k.local.queueOf(k.id); !q.busy(); {
			runtime.Gosched()
		}
		m.live.Handover = &handover{ID: k.local.newID(), Launch: k.launch.ID, Asked: a, Owner: deadOwner}
	})
	if next := <-told; next.Do != DoWait {
		t.Fatalf("next is %+v", next)
	}
	k.relaunched(k.end())
}

// TestStartToldAgain: a keeper whose answer was cut off tells of its agent's start
// again. That may be heard when the agent was ended for a handover meanwhile, or
// when the keeper was told already what to launch next: neither is undone by it.
func TestStartToldAgain(t *testing.T) {
	for name, before := range map[string]func(*keptAgent){
		"carried out": func(*keptAgent) {},
		"relaunching": func(k *keptAgent) { k.end() },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeptAgent(t)
			h := k.mark(k.restoreOf("live@1"), false)
			_ = k.agent.Process.Kill()
			<-k.ended
			k.change(func(m *loaded) { m.live.Handover.Owner = k.local.self })
			if _, err := k.local.completeHandover(context.Background(), k.state(), h.ID); err != nil {
				t.Fatal(err)
			}
			before(k)
			k.started()
			k.relaunched(k.end())
		})
	}
}
