package commands

import (
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestUsedAfterGoingBack: what a turn took is counted from its prompt where its user
// went back in the agent before that, which takes back what was counted.
func TestUsedAfterGoingBack(t *testing.T) {
	said := func(prompts, tools int, tokens int64) missions.Entry {
		return missions.Entry{Turn: prompts, Conversation: &missions.Tally{Prompts: prompts, Tools: tools, Input: tokens}}
	}
	list := []missions.Entry{said(2, 3, 70), said(1, 1, 20), said(2, 5, 60)} // the turn's end, its prompt, the end of the one before
	if got, want := used(list, 0, 2), used([]missions.Entry{list[0], list[1], list[1]}, 0, 2); got != want || got == "" {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestUsedInAFork: what a fork's first turn took is counted from where it begins in its
// source, and not from any snapshot of another mission.
func TestUsedInAFork(t *testing.T) {
	entry := func(id, parent, mission string, turn, tools int) missions.Entry {
		return missions.Entry{ID: id, Parent: parent, Mission: mission, Turn: turn, Conversation: &missions.Tally{Prompts: turn, Tools: tools}}
	}
	fork := entry("b", "a", "fork", 2, 5)
	for _, c := range []struct{ at, want string }{{"a", "  3 tools"}, {"c", ""}} {
		if got := used([]missions.Entry{fork, entry(c.at, "", "source", 1, 2)}, 0, 1); got != c.want {
			t.Errorf("before it is %s: %q, want %q", c.at, got, c.want)
		}
	}
}
