package local

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/claude"
)

type trailing struct{ *lateWriter }

func (trailing) Trails() {}

// TestStopAwaitsTurn reports the end of a turn without its last words, and before anything
// of it is in the session's file, as Copilot CLI does: the snapshot must hold the turn.
func TestStopAwaitsTurn(t *testing.T) {
	t.Parallel()
	c := newTalker(newBench(t))
	c.local.Adapters = projects.Agents()
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "one"})
	c.say(c.line("user", "u1", "", `"one"`), c.line("assistant", "u2", "u1", `[{"type":"text","text":"done"}]`))
	c.hook("Stop", map[string]any{})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "two"})
	c.local.Workers.Wait()
	c.local.Adapters = []sessions.Adapter{trailing{&lateWriter{write: func() {
		c.say(c.line("user", "u3", "u2", `"two"`), c.line("assistant", "u4", "u3", `[{"type":"text","text":"done"}]`))
	}}}}
	c.hook("Stop", map[string]any{})
	list, err := c.local.Log(context.Background(), missions.LogRequest{Caller: c.caller(), Limit: 1})
	if err != nil || len(list) != 1 || list[0].Events != 4 || !strings.HasSuffix(list[0].Address, "@2") {
		t.Errorf("the turn's end: %+v %v", list, err)
	}
}

type dated struct {
	claude.Adapter
	at time.Time
}

func (d dated) WrittenAt(sessions.Environ, sessions.Rewrite) time.Time { return d.at }

// TestForkIsDated: the conversation of a fork counts as written when its adapter says.
func TestForkIsDated(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.takeTurn("first", "a.txt", "one\n")
	at := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	c.local.Adapters = []sessions.Adapter{dated{at: at}}
	made, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), From: c.only().Name, Name: "old"})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(made.Missions[0].SessionPath)
	if err != nil || !info.ModTime().Equal(at) {
		t.Errorf("it was written at %s, %v", info.ModTime(), err)
	}
}
