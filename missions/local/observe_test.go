package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestQuietBetweenTurnsEndsNone takes what a watcher saw before a prompt for no
// end of the turn that the prompt began.
func TestQuietBetweenTurnsEndsNone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "one\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	before := b.local.LiveMissionsIn(b.dir)
	if len(before) != 1 || missions.InTurn(before[0].Lifecycle) {
		t.Fatalf("%+v", before)
	}
	c.hook("UserPromptSubmit", map[string]any{"prompt": "begin", "prompt_id": "p"})
	if err := b.local.ObserveMission(context.Background(), before[0], missions.SawQuiet); err != nil {
		t.Fatal(err)
	}
	if m := b.only(); m.State != missions.StateRunning || m.Turn != 1 {
		t.Errorf("%s in turn %d", m.State, m.Turn)
	}
}

// TestStoppedTurnBefore: a turn may not be in the session's file yet when all is
// quiet, and the one before it have ended with Esc. That is no end of the turn that
// runs; its own is, with all that was said in it.
func TestStoppedTurnBefore(t *testing.T) {
	t.Parallel()
	for name, told := range map[string]bool{"ids": true, "no ids": false} {
		t.Run(name, func(t *testing.T) {
			c := startTalker(t)
			c.hook("SessionStart", map[string]any{"source": "startup"})
			prompt := func(n int) {
				t.Helper()
				fields := map[string]any{"prompt": fmt.Sprintf("prompt %d", n)}
				if told {
					fields["prompt_id"] = "id"
				}
				c.hook("UserPromptSubmit", fields)
			}
			stopped := func(n int) {
				t.Helper()
				for i, text := range []string{fmt.Sprintf("prompt %d", n), "[Request interrupted by user]"} {
					line := c.line("user", fmt.Sprintf("%08d-0000-4000-8000-00000000000%d", n, i), "", fmt.Sprintf(`[{"type":"text","text":%q}]`, text))
					if told { // the same one twice, as in a session that is resumed
						line = strings.Replace(line, `"type":"user"`, `"type":"user","promptId":"id"`, 1)
						line = strings.Replace(line, "2026-01-01T00:00:00.000Z", time.Now().UTC().Format(time.RFC3339Nano), 1)
					}
					c.say(line)
				}
			}
			quiet := func(state missions.StateName, turn int) {
				t.Helper()
				if err := c.local.Observe(context.Background(), c.dir, missions.SawQuiet); err != nil {
					t.Fatal(err)
				}
				if m := c.only(); m.State != state || m.Turn != turn {
					t.Fatalf("when all is quiet the mission is %s in turn %d, want %s in %d", m.State, m.Turn, state, turn)
				}
			}
			prompt(1)
			quiet(missions.StateRunning, 1)
			stopped(1)
			quiet(missions.StateIdle, 1)
			if err := os.Chtimes(c.transcript, time.Time{}, time.Now().Add(-time.Minute)); err != nil {
				t.Fatal(err)
			}
			prompt(2)
			quiet(missions.StateRunning, 2)
			stopped(2)
			quiet(missions.StateIdle, 2)
			shown, err := c.local.Show(context.Background(), missions.ShowRequest{Caller: c.caller(), Moment: "@2"})
			if err != nil || len(shown.Conversation) == 0 || shown.Conversation[0].Text != "prompt 2" {
				t.Errorf("the snapshot of the turn's end has %+v, %v", shown.Conversation, err)
			}
			c.healthy()
		})
	}
}

// registry is where Claude Code says what it does, in these tests the test's own process.
type registry struct {
	c    *talker
	file string
}

func newRegistry(c *talker) registry {
	c.Helper()
	r := registry{c: c, file: filepath.Join(c.user, ".claude", "sessions", fmt.Sprint(os.Getpid())+".json")}
	if err := os.MkdirAll(filepath.Dir(r.file), 0o700); err != nil {
		c.Fatal(err)
	}
	return r
}

// says has the agent say what it does, and all be quiet.
func (r registry) says(t *testing.T, fields string) {
	t.Helper()
	entry := fmt.Sprintf(`{"pid":%d,"sessionId":%q,%s}`, os.Getpid(), r.c.session, fields)
	if err := os.WriteFile(r.file, []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.c.local.Observe(context.Background(), r.c.dir, missions.SawQuiet); err != nil {
		t.Fatal(err)
	}
}

// TestUnattended: Esc before any answer leaves nothing in the session's file but the
// prompt, and no hook tells of it. The agent says itself that it waits.
func TestUnattended(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	registry := newRegistry(c)
	says := func(status string, at time.Time) {
		t.Helper()
		registry.says(t, fmt.Sprintf(`"status":%q,"statusUpdatedAt":%d`, status, at.UnixMilli()))
	}
	before := time.Now()
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p"})
	c.say(c.line("user", "00000001-0000-4000-8000-000000000001", "", `"go"`))
	after := time.Now().Add(time.Second) // Claude Code counts milliseconds
	for _, step := range []struct {
		status string
		at     time.Time
		state  missions.StateName
	}{{"idle", before, missions.StateRunning}, {"busy", after, missions.StateRunning}, {"waiting", after, missions.StateRunning}, {"idle", after, missions.StateIdle}} {
		says(step.status, step.at)
		if m := c.only(); m.State != step.state || m.Turn != 1 {
			t.Errorf("with an agent that says %s the mission is %s in turn %d", step.status, m.State, m.Turn)
		}
		followed := false
		for _, ws := range c.local.LiveWorkspaces() {
			followed = slices.Contains(ws.Sessions, registry.file)
		}
		if !followed { // after its turn too: it may go on
			t.Errorf("with an agent that says %s, what it says is not followed", step.status)
		}
	}
	c.healthy()
}

// TestAsksBeforeItsHook: an agent that says itself that it asks its user is waiting as
// soon as all is quiet. Its hook says it again, later; what the agent said before that
// is no answer, and a dialog that its user has opened is no question.
func TestAsksBeforeItsHook(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	registry := newRegistry(c)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p"})
	c.hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_use_id": "t1", "tool_input": map[string]any{"file_path": c.dir + "/a.txt"}})
	after := time.Now().Add(time.Second)
	is := func(state missions.StateName, questions int) {
		t.Helper()
		m := c.only()
		if m.State != state || len(m.PendingPermissions) != questions || questions > 0 && (m.PendingPermissions[0].Tool != "Write" || m.PendingPermissions[0].Target != "a.txt") {
			t.Errorf("the mission is %s and asks %+v, want %s and %d questions", m.State, m.PendingPermissions, state, questions)
		}
	}
	registry.says(t, fmt.Sprintf(`"status":"waiting","waitingFor":"dialog open","statusUpdatedAt":%d`, after.UnixMilli()))
	is(missions.StateRunning, 0)
	for range 2 {
		registry.says(t, fmt.Sprintf(`"status":"waiting","waitingFor":"permission prompt","statusUpdatedAt":%d`, after.UnixMilli()))
		is(missions.StateWaiting, 1)
	}
	c.hook("Notification", map[string]any{"notification_type": "permission_prompt", "message": "Claude needs your permission to use Write"})
	is(missions.StateWaiting, 1)
	registry.says(t, fmt.Sprintf(`"status":"busy","statusUpdatedAt":%d`, after.Add(-2*time.Second).UnixMilli()))
	is(missions.StateWaiting, 1)
	registry.says(t, fmt.Sprintf(`"status":"busy","statusUpdatedAt":%d`, after.Add(time.Minute).UnixMilli()))
	is(missions.StateRunning, 0)
	c.hook("PostToolUse", map[string]any{"tool_name": "Write", "tool_use_id": "t1"})
	is(missions.StateRunning, 0)
	c.healthy()
}
