package missions

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestFailedHookShows lets a hook's snapshot fail: the agent goes on, status
// tells, and the next one that goes well takes it back.
func TestFailedHookShows(t *testing.T) {
	b := newBench(t)
	b.local.adapters = Agents()
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("one", "a.txt", "one\n")

	away := b.dir + "-away"
	if err := os.Rename(b.dir, away); err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(map[string]any{
		"session_id": c.session, "transcript_path": c.transcript, "cwd": b.dir,
		"hook_event_name": "UserPromptSubmit", "prompt": "two", "prompt_id": "two",
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.local.Hook(t.Context(), HookRequest{Caller: b.caller(), Agent: "claude", Payload: payload})
	if err != nil || r.Problem == "" {
		t.Fatalf("a hook without its workspace: %+v %v", r, err)
	}
	problems := func() string {
		t.Helper()
		list, err := b.local.Missions(t.Context(), MissionsRequest{Caller: b.caller(), All: true})
		if err != nil || len(list) != 1 {
			t.Fatalf("missions: %+v %v", list, err)
		}
		return strings.Join(list[0].Problems, "\n")
	}
	if got := problems(); !strings.Contains(got, r.Problem) {
		t.Errorf("problems are %q, want %q among them", got, r.Problem)
	}
	if err := os.Rename(away, b.dir); err != nil {
		t.Fatal(err)
	}
	c.takeTurn("three", "a.txt", "three\n")
	if got := problems(); got != "" {
		t.Errorf("once all is well the problems are %q", got)
	}
}
