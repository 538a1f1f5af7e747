package local

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// idleFork is a side fork whose user goes away.
type idleFork struct {
	*keptAgent
	fork  missions.Mission
	talk  *talker // of the fork's agent
	later atomic.Int64
}

// idleTimeout is far longer than any test takes: only the tests' clock makes it pass.
const idleTimeout = 100 * time.Hour

func newIdleFork(t *testing.T) *idleFork {
	t.Helper()
	f := &idleFork{keptAgent: newKeptAgent(t)}
	clock := f.local.Clock
	f.local.Clock = func() time.Time { return clock().Add(time.Duration(f.later.Load())) }
	done := f.keeps()
	r, err := f.local.EnterFork(context.Background(), missions.EnterForkRequest{Caller: f.caller(), Moment: "live", IdleTimeout: idleTimeout})
	if err != nil {
		t.Fatal(err)
	}
	<-done
	f.fork = f.missionNamed(r.ForkName)
	f.talk = talkerOf(f.talker, f.fork)
	f.talk.turn = 100
	if f.launch.LookIn != idleTimeout || f.launch.Mission.ID != f.fork.ID {
		t.Fatalf("the keeper looks in %s at %s", f.launch.LookIn, f.launch.Mission.Name)
	}
	return f
}

// pass lets time pass.
func (f *idleFork) pass(d time.Duration) { f.later.Add(int64(d)) }

// looks is what the keeper is told that asks whether the fork is idle.
func (f *idleFork) looks(typed time.Time) missions.KeepResult {
	f.Helper()
	r, err := f.local.Keep(context.Background(), missions.KeepRequest{
		Mission: f.launch.Mission.ID, Launch: f.launch.ID, KeeperPID: os.Getpid(), AgentPID: f.agent.Process.Pid, Looks: true, TypedAt: typed,
	})
	if err != nil {
		f.Fatal(err)
	}
	return r
}

// endIdle has the keeper end the agent, and report its end.
func (f *idleFork) endIdle() missions.KeepResult {
	f.Helper()
	_ = f.agent.Process.Kill()
	<-f.ended
	next, err := f.local.Keep(context.Background(), missions.KeepRequest{
		Caller: f.keeper(), Mission: f.launch.Mission.ID, Launch: f.launch.ID, KeeperPID: os.Getpid(), Ended: true, ExitCode: 143, Idle: true,
	})
	if err != nil {
		f.Fatal(err)
	}
	return next
}

// asked reports whether the fork's user is asked, by what umbra status shows.
func (f *idleFork) asked() bool {
	f.Helper()
	return slices.ContainsFunc(f.missionNamed(f.fork.ID).Notes, func(note string) bool { return strings.HasPrefix(note, "nobody is at it") })
}

// told are the updates for the parent's agent.
func (f *idleFork) told() []missions.Update {
	f.Helper()
	list, err := f.local.Updates(context.Background(), missions.UpdatesRequest{Caller: f.caller(), Mission: "live", All: true})
	if err != nil {
		f.Fatal(err)
	}
	return list
}

// TestSideForkIdle: when nobody is at a side fork its user is asked; then its agent is ended
// and sums up, which the parent's agent is told once, and the parent has its terminal again.
func TestSideForkIdle(t *testing.T) {
	t.Parallel()
	f := newIdleFork(t)
	f.talk.answers("try a map", "a map is faster")
	if r := f.looks(time.Time{}); r.Do != missions.DoWait || r.Ring || r.LookIn <= 0 || f.asked() {
		t.Errorf("at once: %+v, asked %t", r, f.asked())
	}
	f.pass(idleTimeout)
	if r := f.looks(time.Time{}); r.Do != missions.DoWait || !r.Ring || r.LookIn <= 0 || r.LookIn >= idleTimeout || !f.asked() {
		t.Errorf("after the timeout: %+v, asked %t", r, f.asked())
	}
	f.pass(idleTimeout)
	if r := f.looks(time.Time{}); r.Do != missions.DoEnd {
		t.Fatalf("after the second: %+v", r)
	}
	next := f.endIdle()
	if again := f.endIdle(); again.Do != missions.DoRelaunch || again.Launch.ID == next.Launch.ID { // the answer was cut off
		t.Errorf("a keeper that asks again is told %+v", again)
	} else {
		next = again
	}
	if l := next.Launch; next.Do != missions.DoRelaunch || l.Mission.ID != f.fork.ID || l.Output == "" || l.LookIn != 0 || l.TimeLimit <= 0 || !slices.Contains(l.Argv, "--print") {
		t.Fatalf("then: %+v", next)
	}
	f.begin(*next.Launch)
	f.talk.answers("sum up", "the map was faster, the list was not tried")
	_ = f.agent.Process.Kill()
	if next := f.end(); next.Do != missions.DoRelaunch || next.Launch.Mission.ID != f.id || !strings.Contains(next.Banner, "back in live; nobody was at "+f.fork.Name) {
		t.Fatalf("at last: %+v", next)
	}
	list := f.told()
	if len(list) != 1 || list[0].Kind != missions.UpdateTimeout || list[0].Text != "the map was faster, the list was not tried" || !list[0].DeliveredAt.IsZero() {
		t.Errorf("the parent is told %+v", list)
	}
	if fork := f.missionNamed(f.fork.ID); fork.State != missions.StateClosed || fork.PromptKept {
		t.Errorf("the fork is %+v", fork)
	}
	f.healthy()
}

// TestSideForkIdleAnswered: what the user types, and what the agent does, begins the time
// anew; a key or a prompt answers the question, and nobody is told any more when the fork ends.
func TestSideForkIdleAnswered(t *testing.T) {
	t.Parallel()
	f := newIdleFork(t)
	f.pass(idleTimeout)
	if r := f.looks(f.local.Now()); r.Do != missions.DoWait || r.Ring {
		t.Errorf("somebody types: %+v", r)
	}
	if r := f.looks(time.Time{}); !r.Ring || !f.asked() {
		t.Errorf("nobody types: %+v, asked %t", r, f.asked())
	}
	f.pass(idleTimeout / 2)
	if r := f.looks(time.Time{}); r.Do != missions.DoWait || r.Ring || !f.asked() {
		t.Errorf("nobody types yet: %+v, asked %t", r, f.asked())
	}
	if r := f.looks(f.local.Now()); r.Do != missions.DoWait || r.Ring || f.asked() {
		t.Errorf("somebody types after that was asked: %+v, asked %t", r, f.asked())
	}
	f.pass(idleTimeout)
	if r := f.looks(time.Time{}); !r.Ring || !f.asked() {
		t.Errorf("nobody types any more: %+v, asked %t", r, f.asked())
	}
	f.pass(idleTimeout)
	f.talk.hook("UserPromptSubmit", map[string]any{"prompt": "go on"})
	if r := f.looks(time.Time{}); r.Do != missions.DoWait || r.Ring || f.asked() {
		t.Errorf("a prompt: %+v, asked %t", r, f.asked())
	}
	f.pass(10 * idleTimeout)
	if r := f.looks(time.Time{}); r.Do != missions.DoWait || r.Ring {
		t.Errorf("in a turn: %+v", r)
	}
}

// TestSideForkIdleUnheard: a side fork in which nothing was said ends without a turn more, and
// its parent's agent is told nothing.
func TestSideForkIdleUnheard(t *testing.T) {
	t.Parallel()
	f := newIdleFork(t)
	f.pass(idleTimeout)
	f.looks(time.Time{})
	f.pass(idleTimeout)
	f.looks(time.Time{})
	if next := f.endIdle(); next.Do != missions.DoRelaunch || next.Launch.Mission.ID != f.id {
		t.Errorf("next: %+v", next)
	}
	if list := f.told(); len(list) != 0 {
		t.Errorf("the parent is told %+v", list)
	}
	f.healthy()
}

// TestSideForkIdleWithoutSummary: where the agent has not summed up, its parent's agent is
// told so.
func TestSideForkIdleWithoutSummary(t *testing.T) {
	t.Parallel()
	f := newIdleFork(t)
	f.talk.answers("try a map", "a map is faster")
	next := f.endIdle()
	f.begin(*next.Launch)
	f.talk.hook("UserPromptSubmit", map[string]any{"prompt": "sum up"})
	_ = f.agent.Process.Kill()
	if next := f.end(); next.Do != missions.DoRelaunch || next.Launch.Mission.ID != f.id {
		t.Fatalf("next: %+v", next)
	}
	if list := f.told(); len(list) != 1 || !strings.HasPrefix(list[0].Text, "Nobody was there, and it has not summed up") {
		t.Errorf("the parent is told %+v", list)
	}
	f.healthy()
}
