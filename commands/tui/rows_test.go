package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// TestHeadingCountsTheTurn: a heading counts what changed from its turn's prompt to its end,
// not what came before the prompt, after the end, or by an operation.
func TestHeadingCountsTheTurn(t *testing.T) {
	t.Parallel()
	entry := func(address string, state missions.StateName, trigger missions.Trigger, lines int) missions.Entry {
		return missions.Entry{
			Address: address, Turn: 2, State: state, Triggers: []string{string(trigger)},
			Files: missions.FileCounts{Modified: 1}, Lines: &missions.LineCounts{Added: lines},
		}
	}
	undone := entry("m@2.7", missions.StateIdle, missions.TriggerUndo, 32)
	undone.Operation = "undo"
	turn := []missions.Entry{
		undone,
		entry("m@2.6", missions.StateIdle, missions.TriggerIdle, 16), // heard twice
		entry("m@2.5", missions.StateClosed, missions.TriggerWatch, 128),
		entry("m@2.4", missions.StateIdle, missions.TriggerManual, 64),
		entry("m@2", missions.StateIdle, missions.TriggerIdle, 1),
		entry("m@2.2", missions.StateRunning, missions.TriggerManual, 2),
		entry("m@2.1", missions.StateRunning, missions.TriggerTool, 4),
		entry("m@2.0", missions.StateRunning, missions.TriggerPrompt, 8),
	}
	for name, c := range map[string]chapter{"all of it": readChapter(turn), "without its end": readChapter(append(turn[2:4:4], turn[5:]...))} {
		want := map[string]missions.LineCounts{"all of it": {Added: 7}, "without its end": {Added: 6}}[name]
		if c.lines != want {
			t.Errorf("%s: %+v, want %+v", name, c.lines, want)
		}
	}
}

// TestHeadingsInLittleRoom: prompts stand below each other, whatever the numbers of their
// turns, and no lesser fact of a turn is shown where the size of its change is not.
func TestHeadingsInLittleRoom(t *testing.T) {
	t.Parallel()
	x := begin(t, world(4), 80, 24)
	x.model.missions.all[x.model.missions.shown].Turn = 12
	v := listView{&x.model.list, &x.model.missions, &x.model.o}
	heading := func(turn int, prompt string, width int) string {
		var text strings.Builder
		for _, s := range v.chapter(row{
			turn:    chapterKey{mission: x.model.at().ID, n: turn},
			chapter: chapter{prompt: prompt, lines: missions.LineCounts{Added: 12}, files: 1, snapshots: 30, lasted: time.Second, folded: true},
		}, width) {
			text.WriteString(s.text)
		}
		return text.String()
	}
	for _, c := range []struct {
		turn   int
		prompt string
		width  int
		want   string
	}{
		{9, "tidy up", 60, "▸ turn 9   tidy up  +12 −0  30 snapshots  1s"},
		{12, "tidy up", 60, "▸ turn 12  tidy up  +12 −0  30 snapshots  1s"},
		{12, "tidy up", 31, "▸ turn 12  tidy up  +12 −0  1s"},
		{12, "tidy up", 24, "▸ turn 12  tidy up"},
	} {
		if got := heading(c.turn, c.prompt, c.width); got != c.want {
			t.Errorf("in %d columns: %q, want %q", c.width, got, c.want)
		}
	}
}
