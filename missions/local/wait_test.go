package local

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// waits reports whether a wait for the mission to be idle has not been answered by now.
func (k *keptAgent) waits() bool {
	k.Helper()
	_, err := k.local.Wait(context.Background(), missions.WaitRequest{Caller: k.caller(), Missions: []string{"live"}, Timeout: time.Millisecond})
	if err == nil {
		return false
	}
	k.fails("waiting", err, missions.KindTimeout)
	if !strings.Contains(err.Error(), "live is running, restore ") {
		k.Errorf("it waits for: %v", err)
	}
	return true
}

// TestWaitForWhatIsQueued: a mission is not idle for who waits until what was to be done
// at the end of its turn has been done, agent and all.
func TestWaitForWhatIsQueued(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.local.Watching = servedBlind{}
	a, done := k.restoreOf("live@1"), k.keeps()
	k.change(func(m *projects.Mission) { m.Live.QueuedRestore = &a })
	if !k.waits() {
		t.Error("it has not begun, and the mission is idle")
	}
	idle := make(chan string, 1)
	go func() {
		_, err := k.local.Wait(context.Background(), missions.WaitRequest{Caller: k.caller(), Missions: []string{"live"}, Timeout: time.Minute})
		if err != nil {
			idle <- err.Error()
			return
		}
		idle <- k.read("a.txt")
	}()
	if err := k.local.ResumeHandovers(context.Background()); err != nil {
		t.Fatal(err)
	}
	if next := <-done; next.Do != missions.DoRelaunch {
		t.Errorf("next: %+v", next)
	}
	if got := <-idle; got != "one\n" {
		t.Errorf("the mission was idle, and a.txt %q", got)
	}
	k.local.Workers.Wait()
	k.healthy()
}

// TestWaitForNobody: what nobody is there to do is not waited for, and what somebody is
// at is.
func TestWaitForNobody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leave func(*keptAgent, projects.Action)
		waits bool
	}{
		"nobody serves": {func(k *keptAgent, a projects.Action) {
			k.change(func(m *projects.Mission) { m.Live.QueuedRestore = &a })
		}, false},
		"nobody is at a handover": {func(k *keptAgent, a projects.Action) { k.mark(a, true) }, false},
		"somebody is": {func(k *keptAgent, a projects.Action) {
			k.mark(a, true)
			k.own()
		}, true},
		"the keeper asks for it": {func(k *keptAgent, a projects.Action) {
			k.mark(a, true)
			_ = k.agent.Process.Kill()
			<-k.ended
		}, true},
		"a hook is at it": {func(k *keptAgent, a projects.Action) {
			k.change(func(m *projects.Mission) { m.Live.QueuedRestore = &a })
			held, err := lock.TryTree(k.home, k.dir, lock.Self("test"))
			if err != nil {
				k.Fatal(err)
			}
			k.Cleanup(func() { _ = held.Release() })
		}, true},
		"no agent is left": {func(k *keptAgent, a projects.Action) {
			_ = k.agent.Process.Kill()
			k.end()
			k.local.Watching = servedBlind{}
			k.change(func(m *projects.Mission) { m.Live.QueuedRestore = &a })
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeptAgent(t)
			c.leave(k, k.restoreOf("live@1"))
			if got := k.waits(); got != c.waits {
				t.Errorf("it waits: %t", got)
			}
		})
	}
}
