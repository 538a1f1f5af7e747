package local

import (
	"context"
	"os"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// about is what a hook says of a call.
func about(id, tool, target string) map[string]any {
	return map[string]any{"tool_name": tool, "tool_use_id": id, "tool_input": map[string]any{"command": target}}
}

// TestQuestionOfItsCall: a question is open until the call that it is about has ended,
// whatever else begins and ends beside that.
func TestQuestionOfItsCall(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]struct {
		event  string
		fields map[string]any
	}{
		"that is told":     {"PermissionRequest", about("t1", "Bash", "ls")},
		"that is not told": {"Notification", map[string]any{"notification_type": "permission_prompt"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := startTalker(t)
			c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p1"})
			c.hook("PreToolUse", about("t2", "Bash", "make"))
			c.hook("PreToolUse", about("t1", "Bash", "ls"))
			c.hook(ask.event, ask.fields)
			asks := func(when string, want missions.StateName) {
				t.Helper()
				m := c.only()
				if m.State != want || want == missions.StateWaiting && (len(m.PendingPermissions) != 1 || m.PendingPermissions[0].ID != "t1" || m.PendingPermissions[0].Target != "ls" || m.PendingPermissions[0].At.IsZero()) {
					t.Errorf("%s it is %s and asks %+v", when, m.State, m.PendingPermissions)
				}
			}
			asks("when it asks", missions.StateWaiting)
			c.hook("PostToolUse", about("t2", "Bash", "make"))
			asks("when another tool has ended", missions.StateWaiting)
			c.hook("PreToolUse", about("t3", "Bash", "make"))
			c.hook(ask.event, ask.fields)
			asks("told again", missions.StateWaiting)
			c.hook("PostToolUse", about("t1", "Bash", "ls"))
			asks("when its tool has ended", missions.StateRunning)
			c.hook("PermissionRequest", about("t3", "Bash", "make"))
			if m := c.only(); m.State != missions.StateWaiting || len(m.PendingPermissions) != 1 || m.PendingPermissions[0].ID != "t3" {
				t.Errorf("asked again it is %s and asks %+v", m.State, m.PendingPermissions)
			}
			c.healthy()
		})
	}
}

// TestQuestionOfALeftSession: a session that was left goes on beside, and asks nothing
// of the mission that has another one; nor does it answer.
func TestQuestionOfALeftSession(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.vars = map[string]string{"CLAUDE_PID": missions.Itoa(os.Getpid())}
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p1"})
	c.hook("SessionEnd", map[string]any{"reason": "clear"})
	left := c.session
	c.switchTo(otherSession)
	c.hook("SessionStart", map[string]any{"source": "clear"})
	c.switchTo(left)
	c.hook("PermissionRequest", about("t1", "Bash", "ls"))
	if m := c.only(); m.State != missions.StateIdle || len(m.PendingPermissions) > 0 {
		t.Errorf("asked in the session that was left it is %s, %+v", m.State, m.PendingPermissions)
	}
	c.switchTo(otherSession)
	c.hook("UserPromptSubmit", map[string]any{"prompt": "again", "prompt_id": "p2"})
	c.hook("PermissionRequest", about("t2", "Bash", "make"))
	c.switchTo(left)
	c.hook("PermissionRequest", about("t1", "Bash", "ls"))
	c.hook("PostToolUse", about("t1", "Bash", "ls"))
	if m := c.only(); m.State != missions.StateWaiting || len(m.PendingPermissions) != 1 || m.PendingPermissions[0].ID != "t2" {
		t.Errorf("asked in its own it is %s, %+v", m.State, m.PendingPermissions)
	}
	c.healthy()
}

// TestQuestionWithinATurn: a notice that may be about another agent is a question of
// the mission's in its turn alone, about the call that is open, until that ends.
func TestQuestionWithinATurn(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"agent_needs_input", "elicitation_dialog"} {
		c := startTalker(t)
		notice := map[string]any{"notification_type": kind}
		c.hook("SessionStart", map[string]any{"source": "startup"})
		c.hook("Notification", notice)
		if m := c.only(); m.State == missions.StateWaiting {
			t.Errorf("%s: before any turn it is %s, %+v", kind, m.State, m.PendingPermissions)
		}
		c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p1"})
		c.hook("PreToolUse", about("t1", "Bash", "chmod 700 f"))
		c.hook("Notification", notice)
		if m := c.only(); m.State != missions.StateWaiting || len(m.PendingPermissions) != 1 || m.PendingPermissions[0].ID != "t1" {
			t.Errorf("%s: asked it is %s, %+v", kind, m.State, m.PendingPermissions)
		}
		c.hook("PostToolUse", about("t1", "Bash", "chmod 700 f"))
		if m := c.only(); m.State != missions.StateRunning {
			t.Errorf("%s: answered it is %s, %+v", kind, m.State, m.PendingPermissions)
		}
		c.hook("Stop", nil)
		c.hook("Notification", notice)
		if m := c.only(); m.State != missions.StateIdle {
			t.Errorf("%s: after its turn it is %s, %+v", kind, m.State, m.PendingPermissions)
		}
		c.healthy()
	}
}

// TestToolThatAsks: a tool that is itself a question has its mission wait from when it
// begins until it has ended.
func TestToolThatAsks(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p1"})
	ask := map[string]any{"tool_name": "AskUserQuestion", "tool_use_id": "t1", "tool_input": map[string]any{"questions": []any{map[string]any{"question": "Which way?"}}}}
	c.hook("PreToolUse", ask)
	c.hook("Notification", map[string]any{"notification_type": "permission_prompt"})
	if m := c.only(); m.State != missions.StateWaiting || len(m.PendingPermissions) != 1 || m.PendingPermissions[0].Target != "Which way?" {
		t.Errorf("while it asks it is %s, %+v", m.State, m.PendingPermissions)
	}
	c.hook("PostToolUse", ask)
	if m := c.only(); m.State != missions.StateRunning {
		t.Errorf("answered it is %s, %+v", m.State, m.PendingPermissions)
	}
	c.healthy()
}

// TestQuestionOfAnyTool: a tool that Umbra does not know tells of its answer, or of the
// end of what it asked about, with an id or without.
func TestQuestionOfAnyTool(t *testing.T) {
	t.Parallel()
	for name, said := range map[string][2]string{
		"an answer":        {`"permission","tool":{"name":"shell","id":"t1"}`, `"answered","tool":{"id":"t1"}`},
		"to all":           {`"permission","tool":{"name":"shell","id":"t1"}`, `"answered"`},
		"the tool's end":   {`"permission","tool":{"name":"shell"}`, `"tool-after","tool":{"name":"shell"}`},
		"an end":           {`"permission","tool":{"name":"shell"}`, `"tool-after"`},
		"nothing is named": {`"permission"`, `"tool-after","tool":{"name":"shell"}`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.local.Adapters = projects.Agents()
			for i, event := range []string{`"prompt","prompt":"go"`, said[0], said[1]} {
				r, err := b.local.Hook(context.Background(), missions.HookRequest{Caller: b.caller(), Agent: "generic", Payload: []byte(`{"session":"s1","event":` + event + `}`)})
				if err != nil || r.Problem != "" {
					t.Fatalf("%s: %v %s", event, err, r.Problem)
				}
				if m := b.only(); m.State != []missions.StateName{missions.StateRunning, missions.StateWaiting, missions.StateRunning}[i] {
					t.Errorf("after %s it is %s, %+v", event, m.State, m.PendingPermissions)
				}
			}
			b.healthy()
		})
	}
}
