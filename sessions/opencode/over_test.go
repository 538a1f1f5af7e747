package opencode

import (
	"bytes"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// TestOver: the plugin says that a turn is over, until the agent works again.
func TestOver(t *testing.T) {
	talk := fixture(t, "talk.jsonl")
	at, seen := 0, 0
	for line := range bytes.Lines(talk) {
		at += len(line)
		c := read(t, talk[:at])
		if len(c.Turns) == 0 {
			continue
		}
		over := c.Turns[len(c.Turns)-1].Over
		idle := bytes.Contains(line, []byte(`"type":"idle"`))
		if idle != over && (idle || c.State == sessions.StateRunning) {
			t.Errorf("after %.80s over is %t", line, over)
		}
		if idle {
			seen++
		}
	}
	if seen == 0 {
		t.Error("no turn was over")
	}
}
