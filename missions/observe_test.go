package missions

import (
	"context"
	"testing"
)

// TestQuietBetweenTurnsEndsNone takes what a watcher saw before a prompt for no
// end of the turn that the prompt began.
func TestQuietBetweenTurnsEndsNone(t *testing.T) {
	b := newBench(t)
	b.local.adapters = Agents()
	b.write("a.txt", "one\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	before := b.local.liveIn(b.dir)
	if len(before) != 1 || InTurn(before[0].life) {
		t.Fatalf("%+v", before)
	}
	c.hook("UserPromptSubmit", map[string]any{"prompt": "begin", "prompt_id": "p"})
	if err := b.local.observed(context.Background(), before[0], SawQuiet); err != nil {
		t.Fatal(err)
	}
	if m := b.only(); m.State != StateRunning || m.Turn != 1 {
		t.Errorf("%s in turn %d", m.State, m.Turn)
	}
}
