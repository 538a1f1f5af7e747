package local

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// servedBlind makes the bench one that serves, and is told of nothing.
type servedBlind struct{}

func (servedBlind) Rules(string, func(string) bool) {}

func (servedBlind) Take(context.Context, string) missions.Dirty {
	return missions.Dirty{Full: true, Why: snapshots.ReasonNotWatched}
}

func (servedBlind) Return(string, missions.Dirty) {}

func (servedBlind) Follow(string, func()) func() { return nil }

func (servedBlind) Changed(string) {}

// TestAdoptionOutlivesItsHooks: the first snapshot of a large workspace takes
// longer than any hook waits. It goes on, and what was heard meanwhile is heard.
func TestAdoptionOutlivesItsHooks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.local.Watching = servedBlind{}
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.vars = map[string]string{"UMBRA_HOOKS_MAX_WAIT": "1m"}
	short := b.caller()
	short.Env["UMBRA_HOOKS_MAX_WAIT"] = "50ms"
	held, err := lock.WaitTree(t.Context(), b.home, b.dir, lock.Self("a slow disk"))
	if err != nil {
		t.Fatal(err)
	}
	hook := func(event string, fields map[string]any) {
		t.Helper()
		payload := map[string]any{"session_id": c.session, "transcript_path": c.transcript, "cwd": c.dir, "hook_event_name": event}
		for k, v := range fields {
			payload[k] = v
		}
		raw, err := json.Marshal(payload)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience.Of(time.Minute))
		defer cancel()
		r, err := b.local.Hook(ctx, missions.HookRequest{Caller: short, Agent: "claude", Payload: raw})
		if err != nil || r.Problem != "" || r.Mission != "" || ctx.Err() != nil {
			t.Errorf("%s: %+v %v %v", event, r, err, ctx.Err())
		}
	}
	hook("SessionStart", map[string]any{"source": "startup"})
	hook("UserPromptSubmit", map[string]any{"prompt": "first", "prompt_id": "p1"})
	hook("PreToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": "t1", "tool_input": map[string]any{"command": "true"}})
	hook("UserPromptSubmit", map[string]any{"prompt": "second", "prompt_id": "p2"})
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	c.hook("Stop", map[string]any{"prompt_id": "p2"}) // waits for its turn, behind the others
	list, err := b.local.Missions(t.Context(), missions.MissionsRequest{Caller: b.caller()})
	if err != nil || len(list) != 1 || list[0].Turn != 2 || list[0].State != missions.StateIdle || list[0].LastPrompt.Text != "second" || list[0].LastTool == nil {
		t.Fatalf("missions: %+v %v", list, err)
	}
	var addresses []string
	for _, e := range b.history(list[0].Name) {
		addresses = append(addresses, e.Address)
	}
	name := list[0].Name
	if want := []string{name + "@2", name + "@2.0", name + "@1", name + "@1.0", name + "@start"}; !slices.Equal(addresses, want) {
		t.Errorf("history %q, want %q", addresses, want)
	}
	b.healthy()
}

// TestAdoptionEndsWithItsService gives up the first snapshot when the process
// is to end, and leaves nothing behind.
func TestAdoptionEndsWithItsService(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.local.Watching = servedBlind{}
	b.write("a.txt", "zero\n")
	b.local.Config.Hooks.MaxWait = settings.Duration(50 * time.Millisecond)
	c := newTalker(b)
	held, err := lock.WaitTree(t.Context(), b.home, b.dir, lock.Self("a slow disk"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	raw, err := json.Marshal(map[string]any{"session_id": c.session, "transcript_path": c.transcript, "cwd": c.dir, "hook_event_name": "SessionStart", "source": "startup"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience.Of(time.Minute))
	defer cancel()
	if _, err := b.local.Hook(ctx, missions.HookRequest{Caller: b.caller(), Agent: "claude", Payload: raw}); err != nil {
		t.Fatal(err)
	}
	if err := b.local.Close(); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	again := b.again()
	if list, err := again.local.Missions(t.Context(), missions.MissionsRequest{Caller: b.caller(), All: true}); err != nil || len(list) != 0 {
		t.Errorf("missions: %+v %v", list, err)
	}
}
