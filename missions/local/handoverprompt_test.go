package local

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// TestPromptDuringHandover is not taken: nobody would answer it.
func TestPromptDuringHandover(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	h := k.mark(k.restoreOf("live@1"), false)
	k.own()
	result := k.hook("UserPromptSubmit", map[string]any{"prompt": "third", "prompt_id": "p3"})
	if m := k.state(); !strings.Contains(string(result.Output), `"decision":"block"`) || m.Lifecycle.LastTurn() != 2 {
		t.Errorf("the answer is %s in turn %d", result.Output, m.Lifecycle.LastTurn())
	}
	_, err := k.local.Restore(context.Background(), missions.RestoreRequest{Caller: k.caller(), Moment: "live@start"})
	k.fails("another restore", err, missions.KindBusy)
	_, err = k.local.Stop(context.Background(), missions.StopRequest{Caller: k.caller(), Missions: []string{"live"}})
	k.fails("stop", err, missions.KindBusy)
	if view, err := k.local.Mission(context.Background(), missions.MissionRequest{Caller: k.caller(), Name: "live"}); err != nil || !strings.HasPrefix(view.PendingAction, "restore ") {
		t.Errorf("the mission is shown as %+v %v", view, err)
	}
	_ = k.agent.Process.Kill()
	if _, err := k.local.CompleteHandover(context.Background(), k.state(), h.ID); err != nil {
		t.Fatal(err)
	}
	k.relaunched(k.end())
}

// TestPromptsNotTakenUp: what had been sent to an agent that is ended in its turn is given
// back in whole, once, and shown at the moment before the restore.
func TestPromptsNotTakenUp(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	prompts := []string{"fourth\n" + strings.Repeat("with words ", 40) + "up to its end", "fifth"}
	k.hook("UserPromptSubmit", map[string]any{"prompt": "third", "prompt_id": "p3"})
	k.say(k.line("user", "30000000-0000-4000-8000-000000000000", "", `"third"`))
	for _, text := range prompts {
		k.say(fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","timestamp":%q,"sessionId":%q,"content":%q}`,
			k.local.Now().Format(time.RFC3339Nano), k.session, text))
	}
	given := func(list []missions.Prompt) {
		t.Helper()
		if len(list) != 2 || list[0].Text != prompts[0] || list[1].Text != prompts[1] || list[0].At.IsZero() {
			t.Errorf("not taken up are %+v", list)
		}
	}
	done := k.keeps()
	r := k.restore("live@1", func(r *missions.RestoreRequest) { r.Force = true })
	given(r.NotTakenUp)
	told := `sent, and not taken up: "fourth with words `
	if banner := (<-done).Banner; !strings.Contains(banner, told) || !strings.Contains(banner, `"fifth" (in whole: umbra show `+r.SafetySnapshot[:10]+"); to take") || strings.Contains(banner, "its end") {
		t.Errorf("the agent's terminal says %q", banner)
	}
	shown, err := k.local.Show(context.Background(), missions.ShowRequest{Caller: k.caller(), Moment: r.SafetySnapshot})
	if err != nil {
		t.Fatal(err)
	}
	given(shown.NotTakenUp)

	for _, step := range []func() (missions.RestoreResult, error){
		func() (missions.RestoreResult, error) {
			return k.local.Undo(context.Background(), missions.UndoRequest{Caller: k.caller()})
		},
		func() (missions.RestoreResult, error) {
			return k.local.Restore(context.Background(), missions.RestoreRequest{Caller: k.caller(), Moment: "live@1"})
		},
	} {
		done := k.keeps()
		r, err := step()
		if banner := (<-done).Banner; err != nil || len(r.NotTakenUp) != 0 || strings.Contains(banner, "not taken up") {
			t.Errorf("later %+v is given back, and %q said: %v", r.NotTakenUp, banner, err)
		}
	}
	k.healthy()
}

// TestTakenUpUnheard: a prompt that waited, and that the agent takes up without a word to
// its hooks just before it is ended, is given back too, and the moment that is named has
// what waited only since the snapshot before.
func TestTakenUpUnheard(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	now := func() string { return k.local.Now().Format(time.RFC3339Nano) }
	queue := func(what, more string) {
		k.say(fmt.Sprintf(`{"type":"queue-operation","operation":%q,"timestamp":%q,"sessionId":%q%s}`, what, now(), k.session, more))
	}
	queue("enqueue", `,"content":"third"`)
	queue("enqueue", `,"content":"fourth"`)
	queue("dequeue", "")
	line := k.line("user", "30000000-0000-4000-8000-000000000002", k.parent, `"third"`)
	k.say(regexp.MustCompile(`"timestamp":"[^"]*"`).ReplaceAllString(line, `"timestamp":"`+now()+`"`))
	done := k.keeps()
	r := k.restore("live@1")
	if len(r.NotTakenUp) != 2 || r.NotTakenUp[0].Text != "third" || r.NotTakenUp[1].Text != "fourth" {
		t.Errorf("not taken up are %+v", r.NotTakenUp)
	}
	if banner := (<-done).Banner; !strings.Contains(banner, "umbra show "+r.SafetySnapshot[:10]) {
		t.Errorf("the agent's terminal says %q, the moment is %s", banner, r.SafetySnapshot)
	}
	if shown, err := k.local.Show(context.Background(), missions.ShowRequest{Caller: k.caller(), Moment: r.SafetySnapshot}); err != nil || len(shown.NotTakenUp) != 1 {
		t.Errorf("the moment shows %+v (%v)", shown.NotTakenUp, err)
	}
}

// TestPromptBeforeWhatIsQueued: a restore that waits for the end of a turn is not
// left for the end of the next one, where nobody heard the first end.
func TestPromptBeforeWhatIsQueued(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.hook("UserPromptSubmit", map[string]any{"prompt": "third", "prompt_id": "p3"})
	if r, err := k.local.Restore(context.Background(), missions.RestoreRequest{Caller: k.caller(), Moment: "live@1", WhenIdle: true}); err != nil || r.Done {
		t.Fatalf("queued: %+v %v", r, err)
	}
	result := k.hook("UserPromptSubmit", map[string]any{"prompt": "typed while it works", "prompt_id": "p3"})
	if m := k.state(); len(result.Output) > 0 || m.Live.QueuedRestore == nil {
		t.Errorf("a prompt within the turn: %s, pending %v", result.Output, m.Live.QueuedRestore)
	}
	result = k.hook("UserPromptSubmit", map[string]any{"prompt": "fourth", "prompt_id": "p4"}) // after Esc
	if !strings.Contains(string(result.Output), `"decision":"block"`) || !strings.Contains(string(result.Output), "comes first (restore") {
		t.Errorf("the answer is %s", result.Output)
	}
	k.relaunched(k.end())
}
