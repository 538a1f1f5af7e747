package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestLoneEnds: an agent that tells of nothing but ends of turns is watched all
// the same, which is a problem once it was spoken to; and once its hooks run, what they
// have said is not said again.
func TestLoneEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	ctx := context.Background()
	m, err := b.local.NewMission(ctx, missions.NewMissionRequest{Caller: b.caller(), Name: "c", Command: []string{"codex", "exec", "go"}})
	if err != nil {
		t.Fatal(err)
	}
	caller := b.caller()
	caller.Binary = "/usr/local/bin/umbra"
	if l, err := b.local.Launch(ctx, missions.LaunchRequest{Caller: caller, Mission: m.ID}); err != nil || len(l.Notes) != 1 {
		t.Fatalf("launched with %q, %v", l.Notes, err)
	}
	const id = "01a20240-aaaa-70f3-8cf7-6473b39ae7cc"
	path := filepath.Join(b.user, ".codex/sessions/2026/11/22/rollout-2026-11-22T07-55-01-"+id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	const said = `{"timestamp":"2026-11-22T08:00:00Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":"go"}]}}}
{"timestamp":"2026-11-22T08:00:02Z","type":"event_msg","payload":{"type":"task_complete"}}
`
	if err := os.WriteFile(path, []byte(`{"type":"session_meta","payload":{"id":"`+id+`"}}`+"\n"+said), 0o600); err != nil {
		t.Fatal(err)
	}
	if now := b.only(); len(now.Problems) > 0 {
		t.Errorf("launched, and not spoken to: %q", now.Problems)
	}
	hear := func(payload string) {
		t.Helper()
		caller := b.caller()
		caller.Mission = m.ID
		if r, err := b.local.Hook(ctx, missions.HookRequest{Caller: caller, Agent: "codex", Payload: []byte(payload)}); err != nil || r.Problem != "" {
			t.Fatalf("%s: %v %s", payload, err, r.Problem)
		}
	}
	hooked := func() bool {
		t.Helper()
		l, err := b.local.MissionByID(m.ID)
		if err != nil {
			t.Fatal(err)
		}
		return l.Live.HasHooks
	}
	lone := fmt.Sprintf(`{"type":"agent-turn-complete","thread-id":"%s","turn-id":"t1","cwd":"%s"}`, id, b.dir)
	hook := func(event string) string {
		return fmt.Sprintf(`{"session_id":"%s","turn_id":"t2","transcript_path":"%s","cwd":"%s","hook_event_name":"%s","prompt":"two"}`, id, path, b.dir, event)
	}

	hear(lone)
	if now := b.only(); now.SessionID != id || now.SessionPath != path || hooked() {
		t.Errorf("after the end of a turn: session %s in %s, hooked %t", now.SessionID, now.SessionPath, hooked())
	}
	if now := b.only(); len(now.Problems) != 1 || !strings.Contains(now.Problems[0], "umbra hooks install codex") || !strings.Contains(now.Problems[0], "umbra mission resume c") {
		t.Errorf("after the end of a turn: %q", now.Problems)
	}
	hear(hook("UserPromptSubmit"))
	hear(hook("Stop"))
	if now := b.only(); len(now.Problems) > 0 {
		t.Errorf("its hooks are heard: %q", now.Problems)
	}
	before := len(b.history("c"))
	if hear(lone); len(b.history("c")) != before || !hooked() {
		t.Errorf("said twice: %d snapshots became %d, hooked %t", before, len(b.history("c")), hooked())
	}
}

// TestUndoAfterUnnumberedTurns: where nobody numbers the turns, an undo counts the
// prompts that were sent since, and asks before it goes back over them.
func TestUndoAfterUnnumberedTurns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	ctx := context.Background()
	m, err := b.local.NewMission(ctx, missions.NewMissionRequest{Caller: b.caller(), Name: "c", Command: []string{"codex", "exec", "go"}})
	if err != nil {
		t.Fatal(err)
	}
	id := "01a20240-aaaa-70f3-8cf7-6473b39ae7cc"
	path := filepath.Join(b.user, ".codex/sessions/2026/11/22/rollout-2026-11-22T07-55-01-"+id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"timestamp":"2026-11-22T07:55:01Z","type":"session_meta","payload":{"id":"`+id+`","cwd":"`+b.dir+`"}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const said = `{"timestamp":"2026-11-22T08:00:00Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":"%s"}]}}}
{"timestamp":"2026-11-22T08:00:01Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}}
{"timestamp":"2026-11-22T08:00:02Z","type":"event_msg","payload":{"type":"task_complete"}}
`
	exchange := func(word string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = fmt.Fprintf(f, said, word)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		b.write(word+".txt", word)
		caller := b.caller()
		caller.Mission = m.ID
		payload := fmt.Sprintf(`{"type":"agent-turn-complete","thread-id":"%s","turn-id":"%s","cwd":"%s"}`, id, word, b.dir)
		if r, err := b.local.Hook(ctx, missions.HookRequest{Caller: caller, Agent: "codex", Payload: []byte(payload)}); err != nil || r.Problem != "" {
			t.Fatalf("%v %s", err, r.Problem)
		}
	}
	exchange("one")
	exchange("two")
	r := b.restore("c~1")
	if id, path = r.SessionID, b.only().SessionPath; r.Conversation.EventsDropped == 0 {
		t.Fatalf("restored: %+v", r)
	}
	undo := func(force bool) error {
		_, err := b.local.Undo(ctx, missions.UndoRequest{Caller: b.caller(), Mission: m.ID, Force: force})
		return err
	}
	exchange("three")
	err = undo(false)
	if b.fails("undo", err, missions.KindConflict); !strings.Contains(fmt.Sprint(err), "a prompt was sent since that restore") {
		t.Errorf("undo: %v", err)
	}
	if err := undo(true); err != nil || !b.exists("two.txt") || !b.exists("three.txt") {
		t.Errorf("by force: %v", err)
	}
	b.healthy()
}
