package missions

import (
	"context"
	"strings"
	"testing"
)

// TestQueuedRestoreThatCanNotBeDone is refused at once where that can be known,
// and is shown and told to the agent where it turns out later.
func TestQueuedRestoreThatCanNotBeDone(t *testing.T) {
	b := newBench(t)
	b.local.adapters = Agents()
	b.git("init", "-q", "-b", "main")
	b.write("a.txt", "zero\n")
	b.git("add", "-A")
	b.git("commit", "-qm", "c")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	problems := func() string {
		t.Helper()
		list, err := b.local.Missions(context.Background(), MissionsRequest{Caller: b.caller()})
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v %v", list, err)
		}
		return strings.Join(list[0].Problems, "\n")
	}
	whenIdle := func(r *RestoreRequest) { r.WhenIdle = true }
	c.hook("UserPromptSubmit", map[string]any{"prompt": "second", "prompt_id": "p2"})
	b.git("switch", "-qc", "other")
	_, err := b.local.Restore(context.Background(), RestoreRequest{Caller: b.caller(), Moment: "@1.0", WhenIdle: true})
	b.fails("queued on another branch", err, KindConflict)
	b.git("switch", "-q", "main")
	if r := b.restore("@1.0", whenIdle); !r.Queued {
		t.Fatalf("%+v", r)
	}
	b.git("switch", "-q", "other")
	c.hook("Stop", map[string]any{"prompt_id": "p2"})
	if got := b.read("a.txt"); got != "one\n" {
		t.Errorf("a refused restore was done: %q", got)
	}
	if p := problems(); !strings.Contains(p, "was not done") || !strings.Contains(p, "git switch main") || strings.Contains(p, "\n") {
		t.Errorf("problems: %q", p)
	}
	result := c.hook("UserPromptSubmit", map[string]any{"prompt": "third", "prompt_id": "p3"})
	if !strings.Contains(string(result.Output), "was not done") {
		t.Errorf("the agent is told %s", result.Output)
	}
	c.hook("Stop", map[string]any{"prompt_id": "p3"})
	if p := problems(); !strings.Contains(p, "was not done") {
		t.Errorf("the next events have cleared it: %q", p)
	}
	b.git("switch", "-q", "main")
	b.restore("@1.0", func(r *RestoreRequest) { r.Force = true })
	if p := problems(); p != "" {
		t.Errorf("problems after a restore: %q", p)
	}
	b.healthy()
}
