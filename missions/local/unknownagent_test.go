package local

import (
	"context"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/claude"
)

// TestBareAgent: an agent that has no role but that of an Adapter has no hooks, and its
// conversation is in snapshots and in forks all the same.
func TestBareAgent(t *testing.T) {
	t.Parallel()
	c := newTalker(newBench(t))
	c.local.Adapters = projects.Agents()
	begun := c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p1"})
	c.say(c.line("user", "u1", "", `"go"`), c.line("assistant", "u2", "u1", `[{"type":"text","text":"done"}]`))
	c.local.Workers.Wait()
	c.local.Adapters = []sessions.Adapter{struct{ sessions.Adapter }{claude.Adapter{}}}
	ctx := context.Background()
	_, err := c.local.Hook(ctx, missions.HookRequest{Caller: c.caller(), Agent: "claude", Payload: []byte("{}")})
	c.fails("a hook of an agent without hooks", err, missions.KindUsage)
	_, err = c.local.HooksStatus(ctx, missions.HooksRequest{Caller: c.caller(), Name: "claude"})
	c.fails("hooks of an agent without hooks", err, missions.KindUsage)
	e, err := c.local.Snapshot(ctx, missions.SnapshotRequest{Caller: c.caller(), Mission: begun.Mission})
	if err != nil || e.Events != 2 {
		t.Fatalf("%d events, %v", e.Events, err)
	}
	f, err := c.local.Fork(ctx, missions.ForkRequest{Caller: c.caller(), From: e.ID, Workspace: c.user + "/fork", NoWait: true})
	if err != nil || len(f.Missions) != 1 || f.Missions[0].SessionID == "" {
		t.Fatalf("forked %+v, %v", f, err)
	}
}
