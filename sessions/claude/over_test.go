package claude

import (
	"bytes"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// TestOver: a turn is over with the message by which the model has ended what it says,
// and what Claude Code notes after it; not with a part of one, nor with a call.
func TestOver(t *testing.T) {
	for _, name := range []string{"2.0.77/tools.jsonl", "2.1.197/tools.jsonl", "2.1.329/resume3turns.jsonl"} {
		file := fixture(t, name)
		at, over := 0, 0
		for line := range bytes.Lines(file) {
			at += len(line)
			c := read(t, file[:at])
			if len(c.Turns) == 0 {
				continue
			}
			turn := c.Turns[len(c.Turns)-1]
			if turn.Over {
				over++
			}
			if turn.Over && (c.State != sessions.StateIdle || !turn.Done) || bytes.Contains(line, []byte(`"stop_reason":"tool_use"`)) && turn.Over {
				t.Errorf("%s: over after %.200s", name, line)
			}
		}
		if c := read(t, file); over == 0 || !c.Turns[len(c.Turns)-1].Over {
			t.Errorf("%s is not over at its end", name)
		}
	}
}
