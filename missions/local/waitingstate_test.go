package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// TestAsksForItsLastTool: Claude Code says that it asks, and not for what; that is
// the tool that is about to run.
func TestAsksForItsLastTool(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "do it"})
	c.hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_use_id": "t1", "tool_input": map[string]any{"file_path": b.dir + "/a.txt"}})
	c.hook("Notification", map[string]any{"notification_type": "permission_prompt", "message": "Claude needs your permission to use Write"})
	m := b.only()
	if m.State != missions.StateWaiting || len(m.PendingPermissions) != 1 || m.PendingPermissions[0].Tool != "Write" || m.PendingPermissions[0].Target != "a.txt" {
		t.Errorf("the mission is %s and asks %+v", m.State, m.PendingPermissions)
	}
}

// TestErrorEndsWithItsTurn: an error is that of the last turn; the next prompt says
// that its user goes on.
func TestErrorEndsWithItsTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "do it", "prompt_id": "p1"})
	m, err := b.local.MissionByID(b.only().ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.SubmitRequest(t.Context(), m.Project, m.ID, &snapshots.Request{Event: missions.TurnFailed{Message: "529"}}); err != nil {
		t.Fatal(err)
	}
	if m := b.only(); m.State != missions.StateError || m.LastError != "529" {
		t.Errorf("after an error the mission is %s, %q", m.State, m.LastError)
	}
	c.hook("UserPromptSubmit", map[string]any{"prompt": "again", "prompt_id": "p2"})
	if m := b.only(); m.State != missions.StateRunning || m.LastError != "" {
		t.Errorf("with the next prompt the mission is %s, %q", m.State, m.LastError)
	}
}

// TestErrorLeftBehind: an error is that of a conversation; one that its user begins
// anew has none, and closes without.
func TestErrorLeftBehind(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.vars = map[string]string{"CLAUDE_PID": missions.Itoa(os.Getpid())}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "do it", "prompt_id": "p1"})
	m, err := c.local.MissionByID(c.only().ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.local.SubmitRequest(t.Context(), m.Project, m.ID, &snapshots.Request{Event: missions.TurnFailed{Message: "529"}}); err != nil {
		t.Fatal(err)
	}
	c.hook("SessionEnd", map[string]any{"reason": "clear"})
	if m := c.only(); m.State != missions.StateError || m.LastError != "529" {
		t.Errorf("after an error the mission is %s, %q", m.State, m.LastError)
	}
	c.switchTo(otherSession)
	c.hook("SessionStart", map[string]any{"source": "clear"})
	if m := c.only(); m.State != missions.StateIdle || m.LastError != "" {
		t.Errorf("after /clear the mission is %s, %q", m.State, m.LastError)
	}
	c.hook("SessionEnd", map[string]any{"reason": "prompt_input_exit"})
	if m := c.only(); m.State != missions.StateClosed || m.LastError != "" {
		t.Errorf("ended after /clear the mission is %s, %q", m.State, m.LastError)
	}
	c.healthy()
}

// TestEndsAsItsFileShows: an agent reports the end of a turn that its API refused, or
// that its user stopped, as it does that of any other. Its session's file shows which
// it was, and of which turn.
func TestEndsAsItsFileShows(t *testing.T) {
	t.Parallel()
	const said, refusal, stopped = `[{"type":"text","text":"done"}]`, `[{"type":"text","text":"API Error: 529"}]`, `[{"type":"text","text":"[Request interrupted by user]"}]`
	for name, tt := range map[string]struct {
		kind, last string
		api        bool
		background bool
		wordless   bool // as Claude Code before 2.1 reports it
		state      missions.StateName
		message    string
	}{
		"answered":       {"assistant", said, false, false, false, missions.StateIdle, "turn ended"},
		"refused":        {"assistant", refusal, true, false, false, missions.StateError, "API Error: 529"},
		"stopped":        {"user", stopped, false, false, false, missions.StateIdle, "interrupted"},
		"in background":  {"assistant", refusal, true, true, false, missions.StateRunning, "prompt"},
		"of 2.0":         {"assistant", said, false, false, true, missions.StateIdle, "turn ended"},
		"refused to 2.0": {"assistant", refusal, true, false, true, missions.StateError, "API Error: 529"},
	} {
		t.Run(name, func(t *testing.T) {
			c := startTalker(t)
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.hook("UserPromptSubmit", map[string]any{"prompt": "go"})
			last := c.line(tt.kind, "00000001-0000-4000-8000-000000000002", "00000001-0000-4000-8000-000000000001", tt.last)
			if tt.api {
				last = strings.Replace(last, `"isSidechain":false`, `"isSidechain":false,"isApiErrorMessage":true`, 1)
			}
			c.say(c.line("user", "00000001-0000-4000-8000-000000000001", "", `"go"`), last)
			end := map[string]any{}
			if !tt.wordless {
				end["last_assistant_message"] = "[no response text]"
			}
			if tt.background {
				end["background_tasks"] = []any{map[string]any{"id": "a", "type": "subagent", "status": "running"}}
			}
			c.hook("Stop", end)
			m := c.only()
			entries, err := c.local.Log(t.Context(), missions.LogRequest{Caller: c.caller()})
			if err != nil || m.State != tt.state || entries[0].Message != tt.message {
				t.Errorf("the mission is %s, its newest snapshot %q (%v), want %s, %q", m.State, entries[0].Message, err, tt.state, tt.message)
			}
			c.healthy()
		})
	}
}

// TestAgentElsewhere: an agent that goes on in another directory than the mission's
// workspace changes what no snapshot has; that is said until it is back.
func TestAgentElsewhere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	c := newTalker(b)
	below, link, elsewhere := filepath.Join(b.dir, "below"), filepath.Join(t.TempDir(), "link"), t.TempDir()
	if err := errorsOf(os.Mkdir(below, 0o755), os.Symlink(b.dir, link)); err != nil {
		t.Fatal(err)
	}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	for i, tt := range []struct {
		cwd string
		bad bool
	}{{b.dir, false}, {elsewhere, true}, {below, false}, {b.dir + "-other", true}, {link, false}} {
		c.hook("UserPromptSubmit", map[string]any{"prompt": "go on", "prompt_id": missions.Itoa(i), "cwd": tt.cwd})
		if said := strings.Contains(strings.Join(b.only().Problems, "\n"), "its agent works in "+tt.cwd); said != tt.bad {
			t.Errorf("with the agent in %s the problems are %q", tt.cwd, b.only().Problems)
		}
	}
	ends := func() missions.Mission {
		t.Helper()
		c.hook("SessionEnd", map[string]any{"reason": "other", "cwd": elsewhere})
		m := b.only()
		if len(m.Problems) != 1 || !strings.HasPrefix(m.Problems[0], "its agent worked in "+elsewhere+":") {
			t.Errorf("where it has ended the problems are %q", m.Problems)
		}
		return m
	}
	m := ends()
	if _, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: m.Name + "@1"}); err != nil {
		t.Fatal(err)
	}
	if m = b.only(); len(m.Problems) > 0 {
		t.Errorf("restored, its problems are %q", m.Problems)
	}
	c.hook("SessionStart", map[string]any{"source": "resume", "cwd": elsewhere})
	m = ends()
	if _, err := b.local.Launch(context.Background(), missions.LaunchRequest{Caller: b.caller(), Mission: m.ID, Resume: true, KeeperPID: os.Getpid()}); err != nil {
		t.Fatal(err)
	}
	if m = b.only(); len(m.Problems) > 0 {
		t.Errorf("launched again in its workspace, its problems are %q", m.Problems)
	}
}

// TestCompactedInTurn: a conversation that is summed up in the middle of a turn, as an
// agent does by itself when it is too long, leaves the turn running; between turns, and
// where nothing was heard before, it is a session's start.
func TestCompactedInTurn(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "compact"})
	if m := c.only(); m.State != missions.StateIdle {
		t.Errorf("a mission whose first event that is: %s", m.State)
	}
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go"})
	c.hook("SessionStart", map[string]any{"source": "compact"})
	if m := c.only(); m.State != missions.StateRunning || m.Turn != 1 {
		t.Errorf("summed up in its turn the mission is %s in turn %d", m.State, m.Turn)
	}
	c.say(c.line("user", "00000001-0000-4000-8000-000000000001", "", `"go"`), c.line("assistant", "00000001-0000-4000-8000-000000000002", "00000001-0000-4000-8000-000000000001", `[{"type":"text","text":"done"}]`))
	c.hook("Stop", map[string]any{"last_assistant_message": "done"})
	c.hook("SessionStart", map[string]any{"source": "compact"})
	entries, err := c.local.Log(t.Context(), missions.LogRequest{Caller: c.caller()})
	if m := c.only(); err != nil || m.State != missions.StateIdle || m.Turn != 1 || entries[0].Message != "turn ended" {
		t.Errorf("at its end the mission is %s in turn %d, its newest snapshot %q (%v)", m.State, m.Turn, entries[0].Message, err)
	}
	c.healthy()
}
