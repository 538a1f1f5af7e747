package daemon

import (
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestLostAgentTellsItself closes a mission whose agent was killed though nobody
// asks after it: the next tick is an hour away.
func TestLostAgentTellsItself(t *testing.T) {
	b := newBench(t)
	s := b.start(func(o *Options) { o.Tick = time.Hour })
	c := b.connect()
	m := b.mission(c, "work")
	agent := b.agent(c, m)
	b.until("watched", func() bool { return b.watched(s) })
	must(t, agent.Process.Kill())
	b.until("closed", func() bool { now := b.state(c, m); return now.CloseReason == missions.CloseReasonLost })
}

// TestWatchesForAnAnswer looks often while a question of an agent's is open, of whose
// answer nothing may tell, and seldom again when it is answered.
func TestWatchesForAnAnswer(t *testing.T) {
	b := newBench(t)
	s := b.start(func(o *Options) { o.Tick = time.Hour })
	tell := func(event string) {
		t.Helper()
		_, err := b.hook(s.Service(), event, map[string]any{
			"source": "startup", "prompt": "go", "prompt_id": "p1",
			"tool_name": "Bash", "tool_use_id": "t1", "tool_input": map[string]any{"command": "make"},
		})
		must(t, err)
	}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest"} {
		tell(event)
	}
	o := newOverseer(s)
	t.Cleanup(o.stop)
	next := func() time.Duration {
		o.look()
		s.calls.last.set(time.Time{})
		s.house.last.set(time.Time{})
		return o.pause()
	}
	b.until("rests but for the question", func() bool { next(); return !o.retry && !o.follows[b.work].tree.Busy() })
	if got := next(); got != time.Hour {
		t.Errorf("with a question the next look is in %v", got)
	}
	tell("PostToolUse")
	b.until("rests", func() bool { return next() == quietTicks*time.Hour })
}

// TestRestsBesideAnAgent looks seldom while an agent waits for its user, and
// often while something happens.
func TestRestsBesideAnAgent(t *testing.T) {
	b := newBench(t)
	s := b.start(func(o *Options) { o.Tick = time.Hour })
	m := b.mission(s.Service(), "work")
	b.agent(s.Service(), m)
	b.until("watched", func() bool { return b.watched(s) })
	o := newOverseer(s)
	t.Cleanup(o.stop)
	o.look()
	if o.live != 1 || len(o.exits.waits) != 1 {
		t.Fatalf("%d live workspaces, %d processes waited for", o.live, len(o.exits.waits))
	}
	long, often := quietTicks*time.Hour, time.Hour
	resting := func() time.Duration {
		s.calls.last.set(time.Time{})
		s.house.last.set(time.Time{})
		return o.pause()
	}
	b.until("rests", func() bool { return resting() == long })
	looked := o.synced
	if o.look(); o.synced != looked {
		t.Error("each mission is looked at though nothing told of a change")
	}
	for name, happens := range map[string]func(){
		"a call":            func() { s.calls.last.set(time.Now()) },
		"a snapshot":        func() { s.house.last.set(time.Now()) },
		"a failure":         func() { o.retry = true },
		"a mission's end":   func() { o.live = 0 },
		"a workspace stirs": func() { must(t, o.follows[b.work].tree.Touch()) },
	} {
		resting()
		b.until("looks often after "+name, func() bool { // until it is settled, or long ago
			happens()
			return o.pause() == often
		})
		o.retry, o.live = false, 1
		b.until("rests after "+name, func() bool { return resting() == long })
	}
}

// TestExits tells once of the end of a process, and asks to be asked where it
// can't wait for it.
func TestExits(t *testing.T) {
	told := make(chan struct{}, 8)
	e := newExits(func() { told <- struct{}{} })
	b := newBench(t)
	s := b.start(func(o *Options) { o.Tick = time.Hour })
	agent := b.agent(s.Service(), b.mission(s.Service(), "work"))
	alive := map[projects.Process]bool{}
	for _, ws := range s.local.LiveWorkspaces() {
		for _, p := range ws.Processes {
			alive[p] = true
		}
	}
	for range 2 {
		if !e.follow(alive) || len(e.waits) != 1 || len(told) != 0 {
			t.Fatalf("%d waited for, %d told", len(e.waits), len(told))
		}
	}
	must(t, agent.Process.Kill())
	<-told
	if e.follow(alive) {
		t.Error("waits for a process that has ended")
	}
	e.stop()
	if len(e.waits) != 0 || len(told) != 0 {
		t.Errorf("%d waited for, %d told again", len(e.waits), len(told))
	}
}
