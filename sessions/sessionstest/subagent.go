package sessionstest

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// Subagent fails t where the adapter does not take a side file for what the subagent with an
// id said, does not read the prompt and the answer that it holds, or takes one of the others
// for what a subagent said.
func Subagent(t *testing.T, a sessions.Delegating, side, id string, said []byte, prompt, answer string, others ...string) {
	t.Helper()
	if got, ok := a.Subagent(side); got != id || !ok {
		t.Errorf("%s is of the subagent %q, %t", side, got, ok)
	}
	for _, other := range others {
		if got, ok := a.Subagent(other); ok {
			t.Errorf("%s is of the subagent %q", other, got)
		}
	}
	read := a.Follow()
	read.Feed(said)
	c := read.Conversation()
	if n := len(c.Turns); n == 0 || c.Bad > 0 {
		t.Fatalf("%s has %d turns and %d bad lines", side, n, c.Bad)
	}
	asked, answered := false, false
	for _, turn := range c.Turns {
		asked = asked || strings.Contains(turn.Prompt, prompt)
		for _, text := range turn.Texts {
			answered = answered || strings.Contains(text.Text, answer)
		}
	}
	if !asked || !answered {
		t.Errorf("%s is read as %+v", side, c.Turns)
	}
}
