package local

import (
	"context"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestTakenBackIsNotSaid: a mission says the last prompt and tool of the
// conversation that it has, not those that a restore or fork left behind.
func TestTakenBackIsNotSaid(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int64{"read": conversations.MaxCountedBytes, "too long to be read": 0} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.local.Adapters, b.local.MaxCountedBytes = projects.Agents(), most
			c := newTalker(b)
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.takeTurn("first", "a.txt", "one\n")
			c.takeTurn("second", "b.txt", "two\n")
			says := func(when, prompt, target string) {
				t.Helper()
				m, err := b.local.Mission(context.Background(), missions.MissionRequest{Caller: b.caller()})
				if err != nil {
					t.Fatal(err)
				}
				text, tool := "", ""
				if m.LastPrompt != nil {
					text = m.LastPrompt.Text
				}
				if m.LastTool != nil {
					tool = m.LastTool.Target
				}
				if text != prompt || tool != target {
					t.Errorf("%s the mission says %q and %q, want %q and %q", when, text, tool, prompt, target)
				}
			}
			says("after two turns", "second", "b.txt")
			b.restore("@1")
			says("restored to turn 1", "first", "a.txt")
			if _, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller()}); err != nil {
				t.Fatal(err)
			}
			says("after undo", "second", "b.txt")
			b.restore("@2.0")
			says("restored to before turn 2", "first", "a.txt")
			b.restore("@1.0")
			says("restored to before turn 1", "", "")
			fork, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "@2.0"})
			if err != nil {
				t.Fatal(err)
			}
			if p := fork.Missions[0].LastPrompt; p == nil || p.Text != "first" {
				t.Errorf("a fork from before turn 2 says %+v", p)
			}
		})
	}
}
