package local

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestTypedPromptsAreMoments: what a user types while the agent works is a moment of its own
// though no file has changed, whole in the log, and that is where a search finds it.
func TestTypedPromptsAreMoments(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("begin", "a.txt", "one\n")
	c.named("login")
	c.turn++
	asides := []string{"first aside lemur", "second aside tapir\n\n" + strings.Repeat("and more of it ", 20) + "to its end"}
	c.hook("UserPromptSubmit", map[string]any{"prompt": "think only", "prompt_id": "p2"})
	c.say(c.line("user", "u1", c.parent, `"think only"`))
	for i, aside := range asides {
		c.hook("UserPromptSubmit", map[string]any{"prompt": aside, "prompt_id": "p2"})
		c.say(fmt.Sprintf(`{"type":"attachment","uuid":"q%d","parentUuid":"u1","timestamp":"2026-01-01T00:00:0%d.500Z","cwd":%q,"sessionId":%q,"attachment":{"type":"queued_command","prompt":%q,"commandMode":"prompt"}}`, i, i+3, c.dir, c.session, aside))
	}
	c.say(c.line("assistant", "u2", "u1", `[{"type":"text","text":"done"}]`))
	c.parent = "u2"
	c.hook("Stop", map[string]any{"prompt_id": "p2", "last_assistant_message": "done"})

	for i, word := range []string{"lemur", "to its end"} {
		address := fmt.Sprintf("login@2.%d", i+1)
		list, err := c.local.Log(context.Background(), missions.LogRequest{Caller: c.caller(), Grep: word})
		if err != nil || len(list) != 1 || list[0].Address != address || list[0].Typed != asides[i] {
			t.Errorf("log --grep %s: %+v, %v", word, list, err)
		}
	}
	c.wantFound("lemur", "login@2.1 prompts: first aside lemur")
	c.wantFound("tapir", "login@2.2 prompts: second aside tapir")
}
