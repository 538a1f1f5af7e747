package missions

import (
	"context"
	"strings"
	"testing"
)

// TestPromptDuringHandover is not taken: nobody would answer it.
func TestPromptDuringHandover(t *testing.T) {
	k := newKeptAgent(t)
	h := k.mark(k.restoreOf("live@1"), false)
	k.own()
	result := k.hook("UserPromptSubmit", map[string]any{"prompt": "third", "prompt_id": "p3"})
	if m := k.state(); !strings.Contains(string(result.Output), `"decision":"block"`) || m.life.LastTurn() != 2 {
		t.Errorf("the answer is %s in turn %d", result.Output, m.life.LastTurn())
	}
	_, err := k.local.Restore(context.Background(), RestoreRequest{Caller: k.caller(), Moment: "live@start"})
	k.fails("another restore", err, KindBusy)
	_, err = k.local.Stop(context.Background(), StopRequest{Caller: k.caller(), Missions: []string{"live"}})
	k.fails("stop", err, KindBusy)
	if view, err := k.local.Mission(context.Background(), MissionRequest{Caller: k.caller(), Name: "live"}); err != nil || !strings.HasPrefix(view.Action, "restore ") {
		t.Errorf("the mission is shown as %+v %v", view, err)
	}
	_ = k.agent.Process.Kill()
	if _, err := k.local.completeHandover(context.Background(), k.state(), h.ID); err != nil {
		t.Fatal(err)
	}
	k.relaunched(k.end())
}

// TestPromptBeforeWhatIsQueued: a restore that waits for the end of a turn is not
// left for the end of the next one, where nobody heard the first end.
func TestPromptBeforeWhatIsQueued(t *testing.T) {
	k := newKeptAgent(t)
	k.hook("UserPromptSubmit", map[string]any{"prompt": "third", "prompt_id": "p3"})
	if r, err := k.local.Restore(context.Background(), RestoreRequest{Caller: k.caller(), Moment: "live@1", WhenIdle: true}); err != nil || r.Done {
		t.Fatalf("queued: %+v %v", r, err)
	}
	result := k.hook("UserPromptSubmit", map[string]any{"prompt": "typed while it works", "prompt_id": "p3"})
	if m := k.state(); len(result.Output) > 0 || m.live.Pending == nil {
		t.Errorf("a prompt within the turn: %s, pending %v", result.Output, m.live.Pending)
	}
	result = k.hook("UserPromptSubmit", map[string]any{"prompt": "fourth", "prompt_id": "p4"}) // after Esc
	if !strings.Contains(string(result.Output), `"decision":"block"`) || !strings.Contains(string(result.Output), "comes first (restore") {
		t.Errorf("the answer is %s", result.Output)
	}
	<-k.ended
	k.relaunched(k.end())
}
