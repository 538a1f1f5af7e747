package local

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/events"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// recordedHook is one call of a hook by a real client.
type recordedHook struct {
	Payload map[string]any
	Env     map[string]string
}

func recordedHooks(t *testing.T, version string) []recordedHook {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "sessions", "claude", "testdata", version, "hooks.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []recordedHook
	for d := json.NewDecoder(bufio.NewReader(f)); d.More(); {
		var h recordedHook
		if err := d.Decode(&h); err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	}
	return all
}

// TestRecordedHooks plays what real clients gave to their hooks: every session
// is a mission with as many turns as it had prompts, closed at its end.
func TestRecordedHooks(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2.0.77", "2.1.197", "2.1.329"} {
		t.Run(version, func(t *testing.T) {
			b := newBench(t)
			b.local.Adapters = projects.Agents()
			b.write("a.txt", "zero\n")
			prompts, ended, tools := map[string]int{}, map[string]bool{}, map[string]bool{}
			said := map[string]string{} // the end of a turn waits for what was said in it
			var lastPrompt any
			for i, h := range recordedHooks(t, version) {
				session := fmt.Sprint(h.Payload["session_id"])
				h.Payload["cwd"] = b.dir
				h.Payload["transcript_path"] = filepath.Join(b.user, ".claude/projects/x", session+".jsonl")
				said[session] += saidBy(h.Payload)
				b.put(fmt.Sprint(h.Payload["transcript_path"]), said[session])
				prompts[session] += 0
				if id := h.Payload["prompt_id"]; h.Payload["hook_event_name"] == "UserPromptSubmit" && (id == nil || id != lastPrompt) {
					if !strings.HasPrefix(fmt.Sprint(h.Payload["prompt"]), "<task-notification>") { // which nobody has typed
						prompts[session]++ // else it was typed while the turn of that id ran
					}
					lastPrompt = id
				}
				tools[session] = tools[session] || prompts[session] == 0 && h.Payload["tool_name"] != nil
				ended[session] = h.Payload["hook_event_name"] == "SessionEnd"
				b.write("a.txt", fmt.Sprint(i))
				raw, err := json.Marshal(h.Payload)
				if err != nil {
					t.Fatal(err)
				}
				c := b.caller()
				for k, v := range h.Env {
					c.Env[k] = v
				}
				c.Env["CLAUDE_CODE_ENTRYPOINT"] = "cli"
				delete(c.Env, "CLAUDE_PID") // of a process of another machine
				times := 2                  // both the user's and the launch's hooks may run
				if version == "2.1.329" && i%4 != 0 {
					times = 1 // it is long
				}
				for range times {
					result, err := b.local.Hook(context.Background(), missions.HookRequest{Caller: c, Agent: "claude", Payload: raw})
					if err != nil || result.Problem != "" {
						t.Fatalf("event %d, %v: %v %s", i, h.Payload["hook_event_name"], err, result.Problem)
					}
				}
			}
			list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()})
			if err != nil || len(list) != len(prompts) {
				t.Fatalf("%d missions of %d sessions, %v", len(list), len(prompts), err)
			}
			for _, m := range list {
				twice := 1
				if version == "2.0.77" {
					twice = 2 // a prompt without an id can't be told from the next
				}
				want := twice * prompts[m.SessionID]
				if tools[m.SessionID] {
					want++ // a turn whose prompt was not recorded
				}
				if m.Turn != want {
					t.Errorf("%s: %d turns, %d prompts", m.SessionID, m.Turn, prompts[m.SessionID])
				}
				if ended[m.SessionID] && m.State != missions.StateClosed {
					t.Errorf("%s is %s", m.SessionID, m.State)
				}
				b.history(m.Name)
			}
			b.healthy()
		})
	}
}

// saidBy is what Claude Code has written of a turn when a hook tells of its end:
// nothing for another hook.
func saidBy(payload map[string]any) (lines string) {
	said, prompt := payload["last_assistant_message"], payload["prompt_id"]
	if payload["hook_event_name"] != "Stop" || said == nil || prompt == nil {
		return ""
	}
	for _, kind := range []string{"user", "assistant"} {
		line, err := json.Marshal(map[string]any{
			"type": kind, "uuid": fmt.Sprint(prompt, kind), "promptId": prompt, "sessionId": payload["session_id"], "cwd": payload["cwd"], "version": "2.1.329",
			"timestamp": time.Now().UTC().Format(time.RFC3339Nano),
			"message":   map[string]any{"role": kind, "content": []any{map[string]any{"type": "text", "text": said}}},
		})
		if err != nil {
			return err.Error()
		}
		lines += string(line) + "\n"
	}
	return lines
}

// only is the bench's only mission.
func (b *testBench) only() missions.Mission {
	b.Helper()
	list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()})
	if err != nil || len(list) != 1 {
		b.Fatalf("missions: %+v %v", list, err)
	}
	return list[0]
}

const otherSession = "22222222-2222-4222-8222-222222222222"

func (c *talker) switchTo(session string) {
	c.transcript = strings.ReplaceAll(c.transcript, c.session, session)
	c.session = session
}

func startTalker(t *testing.T) *talker {
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	return c
}

// TestClear goes on in the session that /clear or /resume begins: in a kept
// mission, and in one started by hand whose process is known.
func TestClear(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]bool{"kept": true, "by hand": false} {
		t.Run(name, func(t *testing.T) {
			c := startTalker(t)
			c.vars = map[string]string{"CLAUDE_PID": fmt.Sprint(os.Getpid())}
			if kept {
				m, err := c.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: c.caller(), Name: "work", Agent: "claude"})
				if err != nil {
					t.Fatal(err)
				}
				c.mission = m.ID
			}
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.takeTurn("first", "a.txt", "one\n")
			first := c.only()
			c.hook("SessionEnd", map[string]any{"reason": "clear"})
			c.switchTo(otherSession)
			c.hook("SessionStart", map[string]any{"source": "clear"})
			c.takeTurn("second", "a.txt", "two\n")
			m := c.only()
			if m.ID != first.ID || m.SessionID != otherSession || m.Turn != 2 || m.State != missions.StateIdle || m.Diverged {
				t.Errorf("after /clear: %+v", m)
			}
			c.switchTo(testSession)
			c.hook("Stop", map[string]any{"prompt_id": "00000001-0000-4000-8000-000000000009"})
			c.hook("SessionEnd", map[string]any{"reason": "other"})
			if m := c.only(); m.Diverged {
				t.Errorf("a former session has an end: %+v", m)
			}
			c.takeTurn("third", "a.txt", "three\n")
			if m := c.only(); m.ID != first.ID || m.Diverged || m.SessionID != testSession {
				t.Errorf("its agent speaks in a former session: %+v", m)
			}
			c.switchTo(otherSession)
			c.takeTurn("fourth", "a.txt", "four\n")
			if m := c.only(); m.Diverged || m.SessionID != otherSession {
				t.Errorf("its agent speaks in the other again: %+v", m)
			}
			c.healthy()
		})
	}
}

// TestNewSession: an agent under a keeper that begins a session as if it were its
// first, as Codex and OpenCode do at /new, goes on with its mission, also in the
// middle of a turn, which it leaves then. From another process it is an agent inside
// the agent.
func TestNewSession(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	first := k.only()
	k.vars = map[string]string{"CLAUDE_PID": fmt.Sprint(first.PID)}
	k.switchTo(otherSession)
	k.hook("SessionStart", map[string]any{"source": "startup"})
	k.takeTurn("third", "a.txt", "three\n")
	m := k.only()
	if m.ID != first.ID || m.SessionID != otherSession || m.Turn != 3 || m.State != missions.StateIdle || m.Tally == nil || m.Tally.Resets != 1 {
		t.Errorf("after a new session in the same process: %+v", m)
	}

	const newest = "44444444-4444-4444-8444-444444444444"
	k.hook("UserPromptSubmit", map[string]any{"prompt": "fourth", "prompt_id": "p4"})
	k.say(k.line("user", "00000004-0000-4000-8000-000000000001", "", `"fourth"`),
		k.line("assistant", "00000004-0000-4000-8000-000000000002", "00000004-0000-4000-8000-000000000001", `[{"type":"text","text":"so far"}]`))
	k.switchTo(newest)
	k.hook("SessionStart", map[string]any{"source": "startup"})
	is := func(when string, state missions.StateName, turn int) {
		t.Helper()
		if m := k.only(); m.ID != first.ID || m.SessionID != newest || m.Turn != turn || m.State != state {
			t.Errorf("%s: %+v", when, m)
		}
	}
	is("after a new session in the middle of a turn", missions.StateIdle, 4)
	shown, err := k.local.Show(context.Background(), missions.ShowRequest{Caller: k.caller(), Moment: "live@4"})
	if n := len(shown.Conversation); err != nil || n == 0 || shown.Conversation[n-1].Text != "so far" {
		t.Errorf("the turn that was left has %+v, %v", shown.Conversation, err)
	}
	k.hook("UserPromptSubmit", map[string]any{"prompt": "fifth", "prompt_id": "p5"})
	k.switchTo(otherSession) // whose turn goes on beside
	k.hook("PreToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": "t9", "tool_input": map[string]any{"command": "true"}})
	k.hook("Stop", map[string]any{"prompt_id": "p4"})
	is("when the turn that was left has ended", missions.StateRunning, 5)
	k.switchTo(newest)
	k.hook("Stop", map[string]any{"prompt_id": "p5"})
	is("when its own turn has ended", missions.StateIdle, 5)

	const another = "33333333-3333-4333-8333-333333333333"
	live, err := k.local.MissionByID(first.ID)
	if err != nil {
		t.Fatal(err)
	}
	for subagent, anew := range map[string]bool{"": true, "sub": false} {
		e := sessions.Event{Kind: sessions.KindSessionStart, Source: "startup", SessionID: another, PID: first.PID, Agent: subagent}
		if events.BeginsNewSession(live, e) != anew {
			t.Errorf("of subagent %q the mission takes a session for its own: %t", subagent, !anew)
		}
	}
	k.vars["CLAUDE_PID"] = fmt.Sprint(os.Getpid())
	k.switchTo(another)
	k.hook("SessionStart", map[string]any{"source": "startup"})
	list, err := k.local.Missions(context.Background(), missions.MissionsRequest{Caller: k.caller()})
	if err != nil || len(list) != 2 {
		t.Errorf("a session in another process makes %d missions, %v", len(list), err)
	}
	k.healthy()
}

// TestClearUnseen is /clear of a client that does not say which process it is:
// the next session is another mission, and the first one is over.
func TestClearUnseen(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.hook("SessionEnd", map[string]any{"reason": "clear"})
	c.switchTo(otherSession)
	c.hook("SessionStart", map[string]any{"source": "clear"})
	c.takeTurn("second", "a.txt", "two\n")
	list, err := c.local.Missions(context.Background(), missions.MissionsRequest{Caller: c.caller(), Live: true})
	if err != nil || len(list) != 1 || list[0].SessionID != otherSession {
		t.Errorf("live missions: %+v %v", list, err)
	}
}

// TestAgentInAgent makes a mission of its own for an agent that an agent starts.
func TestAgentInAgent(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	outer, err := c.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: c.caller(), Name: "outer", Agent: "claude"})
	if err != nil {
		t.Fatal(err)
	}
	c.mission = outer.ID
	c.vars = map[string]string{"CLAUDE_PID": fmt.Sprint(os.Getpid())}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	for source, session := range map[string]string{"startup": otherSession, "resume": "33333333-3333-4333-8333-333333333333"} {
		in := *c
		in.turn += 10
		in.vars = map[string]string{"CLAUDE_PID": fmt.Sprint(os.Getppid())}
		in.switchTo(session)
		in.hook("SessionStart", map[string]any{"source": source})
		in.takeTurn("inner", "b.txt", source)
		result := in.hook("SessionEnd", map[string]any{"reason": "other"})
		m, err := c.local.MissionByID(result.Mission)
		if err != nil || m.ID == outer.ID || m.StartedBy != outer.ID || m.Stored.Session != session {
			t.Errorf("%s: the inner agent's mission: %+v %v", source, m, err)
		}
	}
	m, err := c.local.Mission(context.Background(), missions.MissionRequest{Caller: c.caller(), Name: "outer"})
	if err != nil || m.SessionID != testSession || m.Turn != 1 || m.State != missions.StateIdle || m.Diverged {
		t.Errorf("the outer mission: %+v %v", m, err)
	}
	c.healthy()
}

// TestEnds closes a mission once, whoever says it first.
func TestEnds(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	m, err := c.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: c.caller(), Name: "work", Agent: "claude"})
	if err != nil {
		t.Fatal(err)
	}
	c.mission = m.ID
	keep := func(r missions.KeepRequest) {
		r.Mission, r.KeeperPID, r.AgentPID = m.ID, os.Getpid(), os.Getppid()
		if next, err := c.local.Keep(context.Background(), r); err != nil || next.Do != missions.DoExit {
			t.Fatalf("keep: %+v %v", next, err)
		}
	}
	keep(missions.KeepRequest{})
	c.hook("SessionStart", map[string]any{"source": "startup"})
	if m := c.only(); m.Managed != missions.ManagedKeeper || m.PID != os.Getppid() {
		t.Errorf("kept: %+v", m)
	}
	c.takeTurn("first", "a.txt", "one\n")
	c.hook("SessionEnd", map[string]any{"reason": "prompt_input_exit"})
	keep(missions.KeepRequest{Ended: true, ExitCode: 3})
	got := c.only()
	if got.State != missions.StateClosed || got.ExitCode == nil || *got.ExitCode != 3 || got.PID != 0 {
		t.Errorf("after its end: %+v", got)
	}
	if e := c.history("work")[0]; strings.Join(e.Triggers, "+") != "close" {
		t.Errorf("the last snapshot: %+v", e)
	}
	keep(missions.KeepRequest{Ended: true, ExitCode: 3})
	if len(c.history("work")) != 4 {
		t.Errorf("%d snapshots", len(c.history("work")))
	}
	c.healthy()
}

// TestLostAgent closes a mission whose agent died without a word.
func TestLostAgent(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.vars = map[string]string{"CLAUDE_PID": "4194304"} // above every pid
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p"})
	c.write("a.txt", "one\n")
	m := c.only()
	if m.State != missions.StateClosed || m.CloseReason != missions.CloseReasonLost {
		t.Errorf("a lost agent: %+v", m)
	}
	if got := c.cat("", "a.txt"); got != "one\n" {
		t.Errorf("its last state: %q", got)
	}
}

// TestBadHooks breaks no agent: nothing is half done and the answer is there.
func TestBadHooks(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	for name, payload := range map[string]string{
		"empty": "", "torn": `{"session_id":"`, "list": "[]", "no session": `{"hook_event_name":"Stop","cwd":"/"}`,
		"no uuid":  `{"hook_event_name":"Stop","session_id":"../../x","cwd":"/"}`,
		"relative": `{"hook_event_name":"Stop","session_id":"` + testSession + `","cwd":"work"}`,
	} {
		_, err := c.local.Hook(context.Background(), missions.HookRequest{Caller: c.caller(), Agent: "claude", Payload: []byte(payload)})
		c.fails(name, err, missions.KindUsage)
	}
	_, err := c.local.Hook(context.Background(), missions.HookRequest{Caller: c.caller(), Agent: "emacs", Payload: []byte("{}")})
	c.fails("an unknown agent", err, missions.KindUsage)
	c.hook("SomethingNew", map[string]any{"x": 1})
	if list, err := c.local.Missions(context.Background(), missions.MissionsRequest{Caller: c.caller()}); err != nil || len(list) != 0 {
		t.Errorf("missions of nothing: %+v %v", list, err)
	}
	c.hook("UserPromptSubmit", map[string]any{"prompt": string(bytes.Repeat([]byte("long \x00 prompt\nUmbra-Mission: forged\n"), 3_000)), "prompt_id": "huge"})
	if m := c.only(); m.Turn != 1 || m.State != missions.StateRunning {
		t.Errorf("after a huge prompt: %+v", m)
	}
	c.healthy()
}

// TestHookWhereUmbraMustNotWork says nothing and makes nothing.
func TestHookWhereUmbraMustNotWork(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	for _, cwd := range []string{c.user, "/", c.home, filepath.Join(c.home, "projects")} {
		r := c.hook("UserPromptSubmit", map[string]any{"prompt": "x", "prompt_id": "y", "cwd": cwd})
		if r.Mission != "" {
			t.Errorf("%s became a workspace", cwd)
		}
	}
	entries, err := os.ReadDir(filepath.Join(c.home, "projects"))
	if err != nil || len(entries) != 0 {
		t.Errorf("projects: %v %v", entries, err)
	}
}

// TestStaleMission adopts a session whose $UMBRA_MISSION names a mission that is
// gone, and again as another mission after that one was removed.
func TestStaleMission(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.mission = "00000000-0000-4000-8000-000000000000"
	c.hook("SessionStart", map[string]any{"source": "startup"})
	var ids []string
	for n := range 3 {
		c.takeTurn("turn", "a.txt", fmt.Sprint(n))
		m := c.only()
		if len(ids) > 0 && m.ID == ids[len(ids)-1] {
			t.Fatalf("the id of a removed mission is used again")
		}
		ids = append(ids, m.ID)
		if _, err := c.local.Remove(context.Background(), missions.RemoveRequest{Caller: c.caller(), Missions: []string{m.ID}}); err != nil {
			t.Fatal(err)
		}
		p, err := c.local.OpenProject(filepath.Dir(m.ShadowRepo))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Store.Ref(gitstore.TrashAgentRef(m.ID)); err != nil || got.String() != m.Head {
			t.Errorf("in the trash: %s %v", got, err)
		}
	}
	c.healthy()
}
