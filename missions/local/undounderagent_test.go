package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestUndoUnderAnAgent: who has restored beside an agent started by hand, and has done
// nothing of what it said then, has nothing to do after the undo either: the agent was
// never taken out of the conversation. After a redo there is.
func TestUndoUnderAnAgent(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.vars = map[string]string{"CLAUDE_PID": fmt.Sprint(os.Getpid())}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "b.txt", "two\n")
	undo := missions.UndoRequest{Caller: c.caller()}
	typed := func(did string, r missions.RestoreResult, err error, want string) {
		t.Helper()
		if err != nil || r.Handover == nil || r.Handover.Type != want || (r.Handover.How == "none") != (want == "") {
			t.Errorf("after the %s it says %+v, want %q: %v", did, r.Handover, want, err)
		}
	}
	r := c.restore("@1")
	typed("restore", r, nil, "/resume "+r.SessionID)
	if plan := c.foreseen("undo"); plan.Handover != nil {
		t.Errorf("the plan of the undo says %+v", plan.Handover)
	}
	done, err := c.local.Undo(context.Background(), undo)
	typed("undo", done, err, "")
	again, err := c.local.Redo(context.Background(), undo)
	typed("redo", again, err, "/resume "+r.SessionID)
	c.switchTo(r.SessionID)
	c.hook("SessionStart", map[string]any{"source": "resume"})
	done, err = c.local.Undo(context.Background(), undo)
	typed("undo that follows it", done, err, "/resume "+testSession)
	c.healthy()
}

// TestUndoUnderCodex: nor is Codex to be ended for it.
func TestUndoUnderCodex(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	const id = "01a20240-aaaa-70f3-8cf7-6473b39ae7cc"
	u := unhookedAgent{b, filepath.Join(b.user, ".codex/sessions/2026/11/22/rollout-2026-11-22T07-55-01-"+id+".jsonl")}
	if err := os.MkdirAll(filepath.Dir(u.rollout), 0o700); err != nil {
		t.Fatal(err)
	}
	hook := func(event, more string) {
		t.Helper()
		payload := fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":%q,"hook_event_name":%q%s}`, id, u.rollout, b.dir, event, more)
		r, err := b.local.Hook(context.Background(), missions.HookRequest{Caller: b.caller(), Agent: "codex", Payload: []byte(payload), AgentPID: os.Getpid()})
		if err != nil || r.Problem != "" {
			t.Fatalf("%s: %v %s", event, err, r.Problem)
		}
	}
	u.says(time.Now(), `{"type":"session_meta","payload":{"id":"`+id+`"}}`)
	hook("SessionStart", `,"source":"startup"`)
	for _, text := range []string{"one\n", "two\n"} {
		turn := `,"turn_id":"` + strings.TrimSpace(text) + `"`
		hook("UserPromptSubmit", turn+`,"prompt":"go"`)
		u.says(time.Now(), codexPrompt, codexDone)
		b.write("a.txt", text)
		hook("Stop", turn)
	}
	if r := b.restore("@1"); r.Handover == nil || !strings.HasPrefix(r.Handover.Type, "end codex, then umbra mission resume ") {
		t.Errorf("after the restore it says %+v", r.Handover)
	}
	if r, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller()}); err != nil || r.SessionID != id || r.Handover == nil || r.Handover.How != "none" {
		t.Errorf("after the undo it says %+v in session %s: %v", r.Handover, r.SessionID, err)
	}
	b.healthy()
}
