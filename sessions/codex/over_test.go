package codex

import "testing"

// TestOver: Codex says itself that a turn is over, and that a task of its own is which
// has no prompt, such as a review; not yet where its last words have come.
func TestOver(t *testing.T) {
	start, end := `{"type":"event_msg","payload":{"type":"task_started","turn_id":"c"}}`, `{"type":"event_msg","payload":{"type":"task_complete","turn_id":"c"}}`
	lines := []string{meta(idA)}
	for i, step := range []struct {
		line string
		over bool
	}{{start, false}, {prompt("go"), false}, {answer("yes"), false}, {end, true}, {start, false}, {answer("I review"), false}, {end, true}, {start, false}, {prompt("more"), false}} {
		lines = append(lines, step.line)
		if c := read(t, []byte(transcript(lines...))); len(c.Turns) > 0 && c.Turns[len(c.Turns)-1].Over != step.over || len(c.Turns) == 0 && step.over {
			t.Errorf("after line %d, over is not %t", i+1, step.over)
		}
	}
}
