package local

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

const testSession = "11111111-1111-4111-8111-111111111111"

// talker plays Claude Code: it writes a session file and calls hooks.
type talker struct {
	*testBench
	session, transcript string
	turn                int
	parent              string // the id of the last line, that the next prompt goes on from
	mission             string // $UMBRA_MISSION
	vars                map[string]string
}

func newTalker(b *testBench) *talker {
	dir := filepath.Join(b.user, ".claude", "projects", strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, b.dir))
	return &talker{testBench: b, session: testSession, transcript: filepath.Join(dir, testSession+".jsonl")}
}

func (c *talker) hook(event string, fields map[string]any) missions.HookResult {
	c.Helper()
	payload := map[string]any{"session_id": c.session, "transcript_path": c.transcript, "cwd": c.dir, "hook_event_name": event}
	for k, v := range fields {
		payload[k] = v
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		c.Fatal(err)
	}
	caller := c.caller()
	caller.Mission = c.mission
	for k, v := range c.vars {
		caller.Env[k] = v
	}
	result, err := c.local.Hook(context.Background(), missions.HookRequest{Caller: caller, Agent: "claude", Payload: raw})
	if err != nil || result.Problem != "" {
		c.Fatalf("%s: %v %s", event, err, result.Problem)
	}
	return result
}

func (c *talker) say(lines ...string) {
	c.Helper()
	if err := os.MkdirAll(filepath.Dir(c.transcript), 0o700); err != nil {
		c.Fatal(err)
	}
	f, err := os.OpenFile(c.transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		c.Fatal(err)
	}
	defer f.Close()
	for _, line := range lines {
		fmt.Fprintln(f, line)
	}
}

// line is one event of the session file.
func (c *talker) line(kind, uuid, parent, content string) string {
	return fmt.Sprintf(`{"parentUuid":%q,"isSidechain":false,"type":%q,"uuid":%q,"timestamp":"2026-01-01T00:00:0%d.000Z","cwd":%q,"sessionId":%q,"version":"2.1.329","message":{"role":%q,"content":%s}}`,
		parent, kind, uuid, c.turn%10, c.dir, c.session, kind, content)
}

// takeTurn is one turn in which the agent writes a file.
func (c *talker) takeTurn(prompt, file, content string) {
	c.Helper()
	c.turn++
	id := fmt.Sprintf("%08d-0000-4000-8000-00000000000", c.turn)
	c.hook("UserPromptSubmit", map[string]any{"prompt": prompt, "prompt_id": id + "9"})
	tool := fmt.Sprintf("toolu_%d", c.turn)
	c.say(
		c.line("user", id+"1", c.parent, fmt.Sprintf("%q", prompt)),
		c.line("assistant", id+"2", id+"1", fmt.Sprintf(`[{"type":"tool_use","id":%q,"name":"Write","input":{"file_path":%q}}]`, tool, filepath.Join(c.dir, file))),
	)
	input := map[string]any{"tool_name": "Write", "tool_use_id": tool, "tool_input": map[string]any{"file_path": filepath.Join(c.dir, file)}}
	c.hook("PreToolUse", input)
	c.write(file, content)
	c.say(
		c.line("user", id+"3", id+"2", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"content":"ok"}]`, tool)),
		c.line("assistant", id+"4", id+"3", `[{"type":"text","text":"done"}]`),
	)
	c.parent = id + "4"
	c.hook("Stop", map[string]any{"prompt_id": id + "9", "last_assistant_message": "done"})
}

// TestAdoptedSession follows a session started by hand through its turns.
func TestAdoptedSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("please write the file", "a.txt", "one\n")
	c.takeTurn("again", "a.txt", "two\n")
	list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()})
	if err != nil || len(list) != 1 {
		t.Fatalf("missions: %+v %v", list, err)
	}
	m := list[0]
	if m.State != missions.StateIdle || m.Turn != 2 || m.SessionID != c.session || m.LastPrompt.Text != "again" || m.LastTool.Target != "a.txt" {
		t.Errorf("mission: %+v", m)
	}
	for moment, want := range map[string]string{"@start": "zero\n", "@1.0": "zero\n", "@1": "one\n", "@2.0": "one\n", "@2": "two\n", "@-1": "two\n", "@-2": "one\n"} {
		got, err := b.local.Cat(context.Background(), missions.CatRequest{Caller: b.caller(), Moment: moment, Path: "a.txt"})
		if err != nil || string(got) != want {
			t.Errorf("%s: %q %v", moment, got, err)
		}
	}
	entries, err := b.local.Log(context.Background(), missions.LogRequest{Caller: b.caller()})
	if err != nil {
		t.Fatal(err)
	}
	var addresses []string
	for _, e := range entries {
		addresses = append(addresses, e.Address+":"+strings.Join(e.Triggers, "+"))
	}
	want := m.Name + "@2:idle " + m.Name + "@2.0:prompt " + m.Name + "@1:idle " + m.Name + "@1.0:prompt " + m.Name + "@start:manual"
	if got := strings.Join(addresses, " "); got != want {
		t.Errorf("log is\n%s, want\n%s", got, want)
	}
	shown, err := b.local.Show(context.Background(), missions.ShowRequest{Caller: b.caller(), Moment: "@1"})
	if err != nil || len(shown.Conversation) != 3 || shown.Conversation[0].Text != "please write the file" {
		t.Errorf("show: %+v %v", shown.Conversation, err)
	}
	d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(d.Problems) > 0 {
		t.Errorf("doctor: %+v %v", d.Problems, err)
	}
}

// TestHeadlessSession adopts a headless session only when it changes something.
func TestHeadlessSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.vars = map[string]string{"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}
	all := func() []missions.Mission {
		list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "what is this?", "prompt_id": "q"})
	c.hook("Stop", map[string]any{"prompt_id": "q"})
	if list := all(); len(list) != 0 {
		t.Fatalf("a session that changed nothing is a mission: %+v", list)
	}
	c.takeTurn("write it", "a.txt", "one\n")
	c.hook("SessionEnd", map[string]any{"reason": "other"})
	list := all()
	if len(list) != 1 || list[0].State != missions.StateClosed || list[0].Name != "what-this" || list[0].LastPrompt.Text != "write it" {
		t.Fatalf("missions: %+v", list)
	}
	for moment, want := range map[string]string{"@start": "zero\n", "@2.0": "zero\n", "": "one\n"} {
		got, err := b.local.Cat(context.Background(), missions.CatRequest{Caller: b.caller(), Moment: moment, Path: "a.txt"})
		if err != nil || string(got) != want {
			t.Errorf("%s: %q %v", moment, got, err)
		}
	}
	c2 := newTalker(b)
	c2.session, c2.transcript = "22222222-2222-4222-8222-222222222222", strings.ReplaceAll(c2.transcript, testSession, "22222222-2222-4222-8222-222222222222")
	c2.vars = c.vars
	c2.hook("SessionStart", map[string]any{"source": "startup"})
	c2.hook("SessionEnd", map[string]any{"reason": "other"})
	d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(d.Problems) > 0 {
		t.Errorf("doctor: %+v %v", d.Problems, err)
	}
}

// TestAdoptedNameStays renames an adopted mission before its first prompt: it is
// not named by that again.
func TestAdoptedNameStays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	if _, err := b.local.Rename(context.Background(), missions.RenameRequest{Caller: b.caller(), Name: "mine"}); err != nil {
		t.Fatal(err)
	}
	c.takeTurn("call it something else", "a.txt", "one\n")
	list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()})
	if err != nil || len(list) != 1 || list[0].Name != "mine" {
		t.Errorf("missions: %+v %v", list, err)
	}
}

// TestNoteOutlivesItsHook keeps what an agent is to be told where the hook that
// would have told it did not wait.
func TestNoteOutlivesItsHook(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	m, err := c.local.MissionByID(c.only().ID)
	if err != nil {
		t.Fatal(err)
	}
	const note = "files were put back"
	err = c.local.WithWorkspaceLock(context.Background(), m, func(m *projects.Mission) error {
		snapshots.SetNote(m, snapshots.NoteRestore, note)
		if err := c.local.WriteMetaRecord(context.Background(), m, "note"); err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		payload := fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":%q,"hook_event_name":"UserPromptSubmit","prompt":"second"}`, c.session, c.transcript, c.dir)
		r, err := c.local.Hook(ctx, missions.HookRequest{Caller: c.caller(), Agent: "claude", Payload: []byte(payload)})
		if strings.Contains(string(r.Output), note) || r.Problem == "" {
			t.Errorf("a hook without time: %s %s", r.Output, r.Problem)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c.hook("Stop", map[string]any{})
	if r := c.hook("UserPromptSubmit", map[string]any{"prompt": "third"}); !strings.Contains(string(r.Output), note) {
		t.Errorf("the next hook: %s", r.Output)
	}
	c.say(c.told(note))
	if r := c.hook("UserPromptSubmit", map[string]any{"prompt": "fourth"}); strings.Contains(string(r.Output), note) {
		t.Errorf("told twice: %s", r.Output)
	}
	c.healthy()
}

// newCommitted is a talker in a repository with one commit, who has had a turn.
func newCommitted(t *testing.T) (*testBench, *talker) {
	t.Helper()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.git("init", "-q", "-b", "main")
	b.write("a.txt", "zero\n")
	b.git("add", ".")
	b.git("commit", "-qm", "first")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	return b, c
}
