package local

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestFailedHookShows lets a hook's snapshot fail: the agent goes on, status
// tells, and the next one that goes well takes it back.
func TestFailedHookShows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
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
	r, err := b.local.Hook(t.Context(), missions.HookRequest{Caller: b.caller(), Agent: "claude", Payload: payload})
	if err != nil || r.Problem == "" {
		t.Fatalf("a hook without its workspace: %+v %v", r, err)
	}
	problems := func() string {
		t.Helper()
		list, err := b.local.Missions(t.Context(), missions.MissionsRequest{Caller: b.caller(), All: true})
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

// TestUnsavedPromptIsSaid: whose prompt was not kept is told so by the agent, once for
// each cause, and again where it comes back.
func TestUnsavedPromptIsSaid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("one", "a.txt", "one\n")
	free := uint64(1 << 40)
	full := func(is bool) {
		b.local.Space.Limits.KeepFree = 0
		if is {
			b.local.Space.Limits.KeepFree = 1 << 62
		}
		free-- // what others write changes the words, and not the cause
		b.local.Space.FreeBytes = func(string) (uint64, error) { return free << 10, nil }
	}
	for i, at := range []struct{ full, said bool }{{false, false}, {true, true}, {true, false}, {false, false}, {true, true}} {
		full(at.full)
		payload, err := json.Marshal(map[string]any{
			"session_id": c.session, "transcript_path": c.transcript, "cwd": b.dir,
			"hook_event_name": "UserPromptSubmit", "prompt": "go", "prompt_id": string(rune('a' + i)),
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := b.local.Hook(t.Context(), missions.HookRequest{Caller: b.caller(), Agent: "claude", Payload: payload})
		var said struct {
			SystemMessage string `json:"systemMessage"`
		}
		if len(r.Output) > 0 {
			_ = json.Unmarshal(r.Output, &said)
		}
		if err != nil || strings.Contains(said.SystemMessage, "Umbra writes nothing") != at.said {
			t.Errorf("prompt %d: %v, its user is told %q", i, err, said.SystemMessage)
		}
	}
}
