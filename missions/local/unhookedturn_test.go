package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// unhookedAgent is Codex without hooks, launched by a keeper, with its rollout.
type unhookedAgent struct {
	*testBench
	rollout string
}

// unhookedThread is the conversation of startUnhooked.
const unhookedThread = "01a20240-aaaa-70f3-8cf7-6473b39ae7cc"

func startUnhooked(t *testing.T) unhookedAgent {
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	m, err := b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: b.caller(), Name: "c", Command: []string{"codex"}})
	if err != nil {
		t.Fatal(err)
	}
	launch, err := b.local.Launch(context.Background(), missions.LaunchRequest{Caller: b.caller(), Mission: m.ID})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.Keep(context.Background(), missions.KeepRequest{Mission: m.ID, Launch: launch.ID, KeeperPID: os.Getpid(), AgentPID: os.Getpid()}); err != nil {
		t.Fatal(err)
	}
	u := unhookedAgent{b, filepath.Join(b.user, ".codex/sessions/2026/11/22/rollout-2026-11-22T07-55-01-"+unhookedThread+".jsonl")}
	if err := os.MkdirAll(filepath.Dir(u.rollout), 0o700); err != nil {
		t.Fatal(err)
	}
	u.says(time.Now(), `{"type":"session_meta","payload":{"id":"`+unhookedThread+`"}}`)
	u.tells(unhookedThread)
	return u
}

// tells says of a thread that a turn has ended there, as the program does that Codex runs.
func (u unhookedAgent) tells(thread string) {
	u.Helper()
	u.hears(`{"type":"agent-turn-complete","thread-id":%q,"turn-id":"t","cwd":%q}`, thread, u.dir)
}

// toolHook is what Codex tells of a tool, with the session, its file and the directory.
const toolHook = `{"session_id":%q,"transcript_path":%q,"cwd":%q,"hook_event_name":"PreToolUse","turn_id":"t1","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"c1"}`

// hears has the agent call Umbra's hook.
func (u unhookedAgent) hears(format string, of ...any) {
	u.Helper()
	caller := u.caller()
	caller.Mission = u.only().ID
	payload := fmt.Sprintf(format, of...)
	if r, err := u.local.Hook(context.Background(), missions.HookRequest{Caller: caller, Agent: "codex", Payload: []byte(payload)}); err != nil || r.Problem != "" {
		u.Fatalf("%v %s", err, r.Problem)
	}
}

func (u unhookedAgent) says(at time.Time, lines ...string) {
	u.Helper()
	f, err := os.OpenFile(u.rollout, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		u.Fatal(err)
	}
	defer f.Close()
	for _, line := range lines {
		fmt.Fprintf(f, `{"timestamp":%q,%s`+"\n", at.UTC().Format(time.RFC3339Nano), line[1:])
	}
}

// sees has a watcher see that, and says what the mission is then.
func (u unhookedAgent) sees(saw missions.Observation, want missions.StateName) {
	u.Helper()
	if err := u.local.Observe(context.Background(), u.dir, saw); err != nil {
		u.Fatal(err)
	}
	if m := u.only(); m.State != want {
		u.Errorf("the mission is %s, want %s", m.State, want)
	}
}

const (
	codexPrompt = `{"type":"event_msg","payload":{"type":"user_message","message":"go"}}`
	codexCall   = `{"type":"response_item","payload":{"type":"function_call","call_id":"c1","name":"shell","arguments":"{}"}}`
	codexResult = `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"ok"}}`
	codexDone   = `{"type":"event_msg","payload":{"type":"task_complete"}}`
)

// TestUnhookedTurn: an agent without hooks is in its turn as long as its conversation
// says so, however quiet its files are, and is looked at again; it is idle when the
// conversation has said that the turn is over.
func TestUnhookedTurn(t *testing.T) {
	t.Parallel()
	u := startUnhooked(t)
	u.sees(missions.SawQuiet, missions.StateIdle)
	u.says(time.Now(), `{"type":"event_msg","payload":{"type":"task_started","turn_id":"t1"}}`, codexPrompt)
	u.sees(missions.SawChange, missions.StateRunning)
	u.sees(missions.SawQuiet, missions.StateRunning)
	u.says(time.Now(), codexCall)
	u.write("a.txt", "one\n")
	u.sees(missions.SawQuiet, missions.StateRunning)
	if !u.local.NeedsAnotherLook(u.dir) {
		t.Error("it is not looked at again")
	}
	_, err := u.local.Restore(context.Background(), missions.RestoreRequest{Caller: u.caller(), Moment: "@start"})
	u.fails("a restore in its turn", err, missions.KindBusy)
	u.says(time.Now(), codexResult, codexDone)
	if err := u.local.ObserveWorkingAgents(context.Background(), u.dir); err != nil || u.only().State != missions.StateIdle || u.local.NeedsAnotherLook(u.dir) {
		t.Errorf("at its end it is %s, looked at again %t (%v)", u.only().State, u.local.NeedsAnotherLook(u.dir), err)
	}
	u.healthy()
}

// TestUnhookedBeforeItsLaunch: a call that was open when an earlier process was killed
// keeps no turn open of the one that goes on with the conversation.
func TestUnhookedBeforeItsLaunch(t *testing.T) {
	t.Parallel()
	u := startUnhooked(t)
	u.says(time.Now().Add(-time.Hour), codexPrompt, codexCall)
	u.sees(missions.SawChange, missions.StateRunning)
	u.sees(missions.SawQuiet, missions.StateIdle)
}

// TestUnhookedPrompted: nobody has seen yet that an agent without hooks works at a
// prompt; a restore looks.
func TestUnhookedPrompted(t *testing.T) {
	t.Parallel()
	u := startUnhooked(t)
	u.sees(missions.SawQuiet, missions.StateIdle)
	u.says(time.Now(), codexPrompt)
	_, err := u.local.Restore(context.Background(), missions.RestoreRequest{Caller: u.caller(), Moment: "@start"})
	u.fails("a restore in its turn", err, missions.KindBusy)
}

// TestLostEnd: the hook that tells of a turn's end may be lost. The session's file says
// that the turn is over; when it has for some seconds, it is.
func TestLostEnd(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stop       string
		background bool
		state      missions.StateName
	}{"ended": {"end_turn", false, missions.StateIdle}, "more comes": {"tool_use", false, missions.StateRunning}, "in the background": {"end_turn", true, missions.StateRunning}} {
		t.Run(name, func(t *testing.T) {
			c := startTalker(t)
			up := time.Hour
			c.local.Uptime = func() time.Duration { return up }
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.hook("UserPromptSubmit", map[string]any{"prompt": "go"})
			if tt.background {
				c.hook("Stop", map[string]any{"prompt_id": "p", "background_tasks": []any{map[string]any{"id": "a", "type": "subagent", "status": "running"}}})
			}
			answer := c.line("assistant", "00000001-0000-4000-8000-000000000002", "00000001-0000-4000-8000-000000000001", `[{"type":"text","text":"done"}],"stop_reason":"`+tt.stop+`"`)
			c.say(c.line("user", "00000001-0000-4000-8000-000000000001", "", `"go"`), answer)
			look := func() {
				t.Helper()
				if err := c.local.Observe(context.Background(), c.dir, missions.SawQuiet); err != nil {
					t.Fatal(err)
				}
			}
			if c.local.NeedsAnotherLook(c.dir) {
				t.Error("it is looked at again right after a hook")
			}
			up += 2 * time.Second
			if look(); c.only().State != missions.StateRunning || c.local.NeedsAnotherLook(c.dir) != (tt.state == missions.StateIdle) {
				t.Errorf("at once it is %s, looked at again: %t", c.only().State, c.local.NeedsAnotherLook(c.dir))
			}
			up += time.Minute
			if err := os.Chtimes(c.transcript, time.Time{}, time.Now().Add(time.Minute)); err != nil { // not recent, and after the prompt
				t.Fatal(err)
			}
			if look(); c.only().State != tt.state {
				t.Errorf("after a while it is %s, want %s", c.only().State, tt.state)
			}
			c.healthy()
		})
	}
}
