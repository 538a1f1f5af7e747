package local

import (
	"context"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestLogSaysThePrompt: what began a turn is told once, with the prompt's own snapshot, or
// with the newest of the turn where that is not listed.
func TestLogSaysThePrompt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	for _, prompt := range []string{"first wish", "second wish"} {
		c.hook("UserPromptSubmit", map[string]any{"prompt": prompt})
		b.write("a.txt", prompt)
		c.hook("Stop", nil)
	}
	list, err := b.local.Log(context.Background(), missions.LogRequest{Caller: b.caller()})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		want := [...]string{"", "first wish", "second wish"}[e.Turn]
		if !e.HasPromptTrigger() {
			want = ""
		}
		if e.Prompt != want {
			t.Errorf("%s (%v): its turn began with %q, want %q", e.Address, e.Triggers, e.Prompt, want)
		}
	}
	for name, r := range map[string]missions.LogRequest{"-n": {Limit: 1}, "--path": {Path: "a.txt"}, "--grep": {Grep: "ended"}} {
		r.Caller = b.caller()
		list, err := b.local.Log(context.Background(), r)
		if err != nil || len(list) == 0 || list[0].Prompt != "second wish" {
			t.Errorf("log %s: %+v, %v", name, list, err)
		}
	}
}
