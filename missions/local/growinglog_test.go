package local

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// servedKnowing is a Watching that names what may have changed.
type servedKnowing struct {
	servedBlind
	paths []string
}

func (w servedKnowing) Take(context.Context, string) missions.Dirty {
	return missions.Dirty{Paths: w.paths}
}

// TestGrowingLog: a log grows while no agent works, seen every 30 seconds. What it was is in
// what it is: a few snapshots hold it, and the next change or turn all of it.
func TestGrowingLog(t *testing.T) {
	t.Parallel()
	hazards.Held(t, hazards.H24, "a log that grows while no agent works is stored again when as much time has passed as before, not each time that it has grown")
	c := startTalker(t)
	c.takeTurn("serve it", "main.go", "package main\n")
	c.local.Watching = servedKnowing{paths: []string{"dev.log", "main.go"}}
	now := time.Now()
	c.local.Clock = func() time.Time { return now }
	text := ""
	grow := func() {
		text += strings.Repeat("GET /\n", 100)
		c.write("dev.log", text)
		now = now.Add(30 * time.Second)
	}
	snapshots := func() int {
		t.Helper()
		list, err := c.local.Log(t.Context(), missions.LogRequest{Caller: c.caller()})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	quiet := func(why string, more int) {
		t.Helper()
		before := snapshots()
		if err := c.local.Observe(t.Context(), c.dir, missions.SawQuiet); err != nil {
			t.Fatal(err)
		}
		if n := snapshots() - before; n != more {
			t.Errorf("%s: %d more snapshots, want %d", why, n, more)
		}
	}
	kept := func(when string) {
		t.Helper()
		m, err := c.local.MissionByID(c.only().ID)
		if err != nil {
			t.Fatal(err)
		}
		e, err := m.Project.Store.Lookup(m.Tip.Tree, "dev.log")
		if err != nil {
			t.Fatal(err)
		}
		data, err := m.Project.Store.Blob(e.ID)
		if err != nil || string(data) != text {
			t.Errorf("%s %d bytes of %d are kept (%v)", when, len(data), len(text), err)
		}
	}
	grow()
	quiet("it is new", 1)
	grow()
	quiet("it grows for the first time", 1)
	before := snapshots()
	const times = 200
	for range times {
		grow()
		if err := c.local.Observe(t.Context(), c.dir, missions.SawQuiet); err != nil {
			t.Fatal(err)
		}
	}
	if n := snapshots() - before; n < 9 || n > 12 { // at 30 seconds, 1, 2, 4, 8 minutes, then each 15
		t.Errorf("%d snapshots of a log that was seen to have grown %d times", n, times)
	}
	grow()
	c.write("main.go", "package other\n")
	quiet("another file changes", 1)
	kept("with it")
	grow()
	quiet("it grows for the first time since", 1)
	grow()
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p"})
	kept("at the prompt")
	c.hook("Stop", map[string]any{"prompt_id": "p", "last_assistant_message": "yes"})
	c.healthy()
}
