package local

import (
	"context"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// hintOf is what an error says is to be typed.
func hintOf(err error) string {
	if err == nil {
		return "(no error)"
	}
	return missions.AsError(err).Hint
}

// TestHintsCanBeTyped: what a refusal says is to be typed names the mission, since
// another may work there too, and nothing is left out of it.
func TestHintsCanBeTyped(t *testing.T) {
	t.Parallel()
	b, c := newCommitted(t)
	name := c.only().Name
	b.mission("other")
	undo := func(change func(*missions.UndoRequest)) error {
		r := missions.UndoRequest{Caller: b.caller(), Mission: name}
		change(&r)
		_, err := b.local.Undo(context.Background(), r)
		return err
	}
	hint := func(what, want string, err error) {
		t.Helper()
		if got := hintOf(err); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	c.takeTurn("second", "b.txt", "two\n")
	b.restore(name+"@1", func(r *missions.RestoreRequest) { r.All = true })
	hint("two steps", "umbra undo "+name+" -n 1", undo(func(r *missions.UndoRequest) { r.Steps = 2 }))
	hint("no steps", "umbra undo "+name+" -n 2", undo(func(r *missions.UndoRequest) { r.Steps = -1 }))
	c.takeTurn("third", "c.txt", "three\n")
	hint("across a turn", "umbra undo "+name+" --force", undo(func(*missions.UndoRequest) {}))
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go on", "prompt_id": "x"})
	err := undo(func(*missions.UndoRequest) {})
	hint("in a turn", "add --when-idle to have it done at the turn's end, or --force to have it done now", err)
	if err == nil || !strings.Contains(err.Error(), name+" is in turn 4") {
		t.Errorf("in a turn: %v", err)
	}
	c.hook("Stop", map[string]any{"prompt_id": "x"})
	b.tell("other", missions.AgentLaunched{})
	_, err = b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "other@start"})
	if err == nil || !strings.Contains(err.Error(), "other is at work") {
		t.Errorf("a command at work: %v", err)
	}
}
