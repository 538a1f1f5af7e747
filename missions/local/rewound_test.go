package local

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// goesBack is a mission of Codex, which goes on in another file of the same session
// where its user goes back in it.
type goesBack struct {
	*testBench
	mission string // $UMBRA_MISSION
	id      string
	path    string
	turns   int
	begins  map[string]int64 // where a prompt's turn begins in its file
}

const threadID = "01a20240-aaaa-70f3-8cf7-6473b39ae7cc"

func newGoesBack(t *testing.T) *goesBack {
	t.Helper()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	g := &goesBack{testBench: b, id: threadID, begins: map[string]int64{}}
	g.path = filepath.Join(b.user, ".codex/sessions/2026/11/22/rollout-2026-11-22T07-55-01-"+g.id+".jsonl")
	return g
}

// begin writes the first line of the file that the agent goes on in.
func (g *goesBack) begin(base string) {
	g.Helper()
	line := fmt.Sprintf(`{"timestamp":"2026-11-22T07:55:01Z","type":"session_meta","payload":{"id":%q,"session_id":%[1]q,"cwd":%q%s}}`, g.id, g.dir, base)
	if err := errorsOf(os.MkdirAll(filepath.Dir(g.path), 0o700), os.WriteFile(g.path, []byte(line+"\n"), 0o600)); err != nil {
		g.Fatal(err)
	}
}

// back goes back to before a prompt: what Codex writes and tells then.
func (g *goesBack) back(prompt, segment string) {
	g.Helper()
	g.hear("SessionEnd", map[string]any{"reason": "other"})
	name := filepath.Base(g.path)
	of := strings.TrimSuffix(name[len(name)-len(threadID)-len(".jsonl"):], ".jsonl")
	g.path = filepath.Join(filepath.Dir(g.path), "rollout-2026-11-22T08-55-01-"+g.id+"_"+segment+".jsonl")
	g.begin(fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_byte_offset":%d}`, of, g.begins[prompt]))
}

func (g *goesBack) hear(event string, fields map[string]any) {
	g.Helper()
	payload := map[string]any{"session_id": g.id, "transcript_path": g.path, "cwd": g.dir, "hook_event_name": event}
	for k, v := range fields {
		payload[k] = v
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		g.Fatal(err)
	}
	caller := g.caller()
	caller.Mission = g.mission
	if r, err := g.local.Hook(context.Background(), missions.HookRequest{Caller: caller, Agent: "codex", Payload: raw}); err != nil || r.Problem != "" {
		g.Fatalf("%s: %v %s", event, err, r.Problem)
	}
}

// turn has a turn in which a file is written.
func (g *goesBack) turn(prompt string) {
	g.Helper()
	g.turns++
	id := fmt.Sprintf("t%d", g.turns)
	g.hear("UserPromptSubmit", map[string]any{"prompt": prompt, "turn_id": id})
	info, err := os.Stat(g.path)
	if err != nil {
		g.Fatal(err)
	}
	g.begins[prompt] = info.Size()
	said := `{"timestamp":"2026-11-22T08:00:%02[3]dZ","type":"event_msg","payload":{"type":"task_started","turn_id":%[1]q}}
{"timestamp":"2026-11-22T08:00:%02[3]dZ","type":"event_msg","payload":{"type":"item_completed","turn_id":%[1]q,"item":{"type":"UserMessage","content":[{"type":"text","text":%[2]q}]}}}
{"timestamp":"2026-11-22T08:00:%02[3]dZ","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}}
{"timestamp":"2026-11-22T08:00:%02[3]dZ","type":"event_msg","payload":{"type":"task_complete","turn_id":%[1]q}}
`
	f, err := os.OpenFile(g.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		g.Fatal(err)
	}
	_, err = fmt.Fprintf(f, said, id, prompt, g.turns)
	if err := errorsOf(err, f.Close()); err != nil {
		g.Fatal(err)
	}
	g.write(prompt+".txt", prompt)
	g.hear("Stop", map[string]any{"turn_id": id})
}

// prompts are those of a conversation file, which is to name no other file.
func (g *goesBack) prompts(path string) []string {
	g.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		g.Fatal(err)
	}
	if bytes.Contains(text, []byte("history_base")) || bytes.Count(text, []byte("session_meta")) != 1 {
		g.Errorf("the copy is of several files:\n%s", text)
	}
	c, err := sessions.ReadConversation(g.local.Adapter("codex"), bytes.NewReader(text))
	if err != nil {
		g.Fatal(err)
	}
	return promptsOf(c)
}

func promptsOf(c sessions.Conversation) (list []string) {
	for _, t := range c.Turns {
		list = append(list, t.Prompt)
	}
	return list
}

func (g *goesBack) forked(moment, name string, want ...string) {
	g.Helper()
	r, err := g.local.Fork(context.Background(), missions.ForkRequest{Caller: g.caller(), From: moment, Name: name})
	if err != nil {
		g.Fatal(err)
	}
	if got := g.prompts(r.Missions[0].SessionPath); !slices.Equal(got, want) {
		g.Errorf("the fork of %s holds %q, want %q", moment, got, want)
	}
}

// of is the mission as it is now.
func (g *goesBack) of(id string) missions.Mission {
	g.Helper()
	m, err := g.local.Mission(context.Background(), missions.MissionRequest{Caller: g.caller(), Name: id})
	if err != nil {
		g.Fatal(err)
	}
	return m
}

// TestRewound goes back in a session twice: each moment has the conversation as it
// was then, in one file, and the mission goes on as it was.
func TestRewound(t *testing.T) {
	t.Parallel()
	g := newGoesBack(t)
	g.begin("")
	g.hear("SessionStart", map[string]any{"source": "startup"})
	g.turn("alpha")
	g.turn("bravo")
	first := g.path
	g.back("bravo", "01a20250-bbbb-70f3-8cf7-6473b39ae7cc")
	g.hear("SessionStart", map[string]any{"source": "resume"})
	g.turn("charlie")
	m := g.only()
	if e := g.history(m.ID)[1]; e.Address != m.Name+"@3.0" || e.Tally.Prompts != 1 {
		t.Errorf("before the prompt, %s counts %+v", e.Address, e.Tally)
	}
	if m.SessionID != g.id || m.SessionPath != g.path || m.State != missions.StateIdle || m.Turn != 3 || m.Tally.Prompts != 2 {
		t.Errorf("after going back the mission is %+v with %+v", m, m.Tally)
	}
	g.turn("delta")
	g.back("delta", "01a20260-bbbb-70f3-8cf7-6473b39ae7cc")
	g.hear("SessionStart", map[string]any{"source": "resume"})
	g.turn("echo")
	m = g.only()
	if m.SessionID != g.id || m.SessionPath != g.path || m.Turn != 5 || m.Tally.Prompts != 3 {
		t.Errorf("after going back again the mission is %+v with %+v", m, m.Tally)
	}
	g.forked(m.ID, "now", "alpha", "charlie", "echo")
	g.forked(m.ID+"@4", "four", "alpha", "charlie", "delta")
	g.forked(m.ID+"@2", "two", "alpha", "bravo")
	g.forked("now", "again", "alpha", "charlie", "echo")

	d, err := g.local.Diff(context.Background(), missions.DiffRequest{Caller: g.caller(), From: m.ID + "@2", To: m.ID + "@3", Conversation: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Conversation.Lines) == 0 || d.Conversation.Lines[0].Text != "charlie" {
		t.Errorf("between turns 2 and 3 was said %+v", d.Conversation.Lines)
	}
	if e := g.history(m.ID)[0]; e.Events != bytes.Count(g.whole(m.ID), []byte("\n")) {
		t.Errorf("%d lines are counted of\n%s", e.Events, g.whole(m.ID))
	}
	if err := errorsOf(os.Remove(first), os.Remove(g.path)); err != nil {
		t.Fatal(err)
	}
	l, err := g.local.MissionByID(m.ID)
	if err != nil {
		t.Fatal(err)
	}
	before := g.whole(m.ID)
	if err := g.local.RecreateSession(context.Background(), l); err != nil {
		t.Fatal(err)
	}
	c, err := g.local.ReadPresentConversation(l)
	if got := promptsOf(c); err != nil || !slices.Equal(got, []string{"alpha", "charlie", "echo"}) || !bytes.Equal(before, g.whole(m.ID)) {
		t.Errorf("put back, the conversation has %q, %v", got, err)
	}
	g.healthy()
}

// whole is the conversation that a mission's newest record holds.
func (g *goesBack) whole(id string) []byte {
	g.Helper()
	c := &talker{testBench: g.testBench}
	text, _ := c.recordedOf(id)
	return []byte(text)
}

// TestRewoundBeforeItsPrompt: between going back and the next prompt no hook tells
// of the other file. A mission with a keeper stays open, and what is taken meanwhile
// has the conversation as it is.
func TestRewoundBeforeItsPrompt(t *testing.T) {
	t.Parallel()
	g := newGoesBack(t)
	m, err := g.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: g.caller(), Name: "c", Command: []string{"codex"}})
	if err != nil {
		t.Fatal(err)
	}
	g.mission = m.ID
	caller := g.caller()
	caller.Binary = "/usr/local/bin/umbra"
	if _, err := g.local.Launch(context.Background(), missions.LaunchRequest{Caller: caller, Mission: m.ID, KeeperPID: os.Getpid()}); err != nil {
		t.Fatal(err)
	}
	g.begin("")
	g.hear("SessionStart", map[string]any{"source": "startup"})
	g.turn("alpha")
	g.turn("bravo")
	before := len(g.history("c"))
	g.back("bravo", "01a20250-bbbb-70f3-8cf7-6473b39ae7cc")
	if now := g.only(); now.State != missions.StateIdle || len(g.history("c")) != before {
		t.Errorf("after going back the mission is %s, with %d snapshots, %d before", now.State, len(g.history("c")), before)
	}
	g.forked("c", "meanwhile", "alpha")
	if now := g.of(m.ID); now.SessionPath != g.path {
		t.Errorf("its file is %s, want %s", now.SessionPath, g.path)
	}
	g.hear("SessionStart", map[string]any{"source": "resume"})
	g.turn("charlie")
	r := g.restore("c@2")
	if got := g.prompts(g.of(m.ID).SessionPath); r.SessionID == g.id || !slices.Equal(got, []string{"alpha", "bravo"}) {
		t.Errorf("restored to turn 2 it is %q", got)
	}
	if _, err := g.local.Undo(context.Background(), missions.UndoRequest{Caller: g.caller(), Mission: m.ID}); err != nil {
		t.Fatal(err)
	}
	if now := g.of(m.ID); now.SessionID != g.id || now.SessionPath != g.path || now.LastPrompt.Text != "charlie" {
		t.Errorf("undone, it is %+v", now)
	}
	g.healthy()
}

// TestRewoundCut: the cut that is found in the end of a rewound conversation is that
// which is found in the whole.
func TestRewoundCut(t *testing.T) {
	t.Parallel()
	g := newGoesBack(t)
	g.begin("")
	g.hear("SessionStart", map[string]any{"source": "startup"})
	g.turn("alpha")
	g.turn("bravo")
	g.back("bravo", "01a20250-bbbb-70f3-8cf7-6473b39ae7cc")
	g.hear("SessionStart", map[string]any{"source": "resume"})
	g.turn("charlie")
	f, err := os.OpenFile(g.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	pad := `{"type":"event_msg","payload":{"type":"x","text":"` + strings.Repeat("x", 1000) + `"}}` + "\n"
	_, err = f.WriteString(strings.Repeat(pad, 3*conversations.CutTailBytes/len(pad)))
	if err := errorsOf(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	g.turn("delta")
	m, err := g.local.MissionByID(g.only().ID)
	if err != nil {
		t.Fatal(err)
	}
	want, err := g.local.Adapter("codex").Cut(bytes.NewReader(g.whole(m.ID)))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := g.local.PlanCutAtSnapshot(m.Project, m.Tip, "")
	if err != nil || plan.Cut.Length != want.Length || plan.Cut.Events != want.Events {
		t.Errorf("cut %+v (%v), want %+v", plan.Cut, err, want)
	}
	if _, told, err := g.local.FindCutInTail(m.Project, g.local.Adapter("codex"), plan, want.Events); err != nil || !told {
		t.Errorf("the end does not tell: %v", err)
	}
	g.healthy()
}
