package missions

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestStopAwaitsAnswer reports the end of a turn before its answer is in the
// session's file, as Claude Code does: the snapshot must hold the answer.
func TestStopAwaitsAnswer(t *testing.T) {
	for name, padding := range map[string]int{"short turn": 1, "turn beyond the tail": answerTail} {
		t.Run(name, func(t *testing.T) {
			c := newTalker(newBench(t))
			c.local.adapters = Agents()
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p1"})
			c.say(
				c.line("user", "u1", "", `"go"`),
				c.line("assistant", "u2", "u1", `[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"x"}}]`),
				c.line("user", "u3", "u2", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t1","content":%q}]`, strings.Repeat("x", padding))),
			)
			answer := c.line("assistant", "u4", "u3", `[{"type":"text","text":"done"}]`)
			written := make(chan struct{})
			go func() {
				defer close(written)
				time.Sleep(20 * time.Millisecond)
				c.say(answer)
			}()
			c.hook("Stop", map[string]any{"prompt_id": "p1", "last_assistant_message": "done"})
			select {
			case <-written:
			default:
				t.Error("the turn ended without its answer")
			}
			<-written
			list, err := c.local.Log(context.Background(), LogRequest{Caller: c.caller(), Limit: 1})
			if err != nil || len(list) != 1 || list[0].Events != 4 || !strings.HasSuffix(list[0].Address, "@1") {
				t.Errorf("the turn's end: %+v %v", list, err)
			}
		})
	}
}

// TestStopWithoutAnswer does not wait where the file shows no turn: Stop can
// name a session that was begun since.
func TestStopWithoutAnswer(t *testing.T) {
	c := newTalker(newBench(t))
	c.local.adapters = Agents()
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p1"})
	c.say(`{"type":"mode","sessionId":"` + c.session + `"}`)
	begin := time.Now()
	c.hook("Stop", map[string]any{"last_assistant_message": "done"})
	if took := time.Since(begin); took >= answerPatience {
		t.Errorf("waited %s for an answer", took)
	}
}
