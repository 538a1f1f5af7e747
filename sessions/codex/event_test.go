package codex

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// TestEvents: what the real client's hooks said, in its order.
func TestEvents(t *testing.T) {
	var got []string
	for row := range bytes.Lines(fixture(t, "hooks.jsonl")) {
		if len(bytes.TrimSpace(row)) == 0 {
			continue
		}
		e, err := Adapter{}.Event(sessions.Environ{}, "", row)
		if err != nil || !filepath.IsAbs(e.Transcript) || e.Cwd != "/tmp/dev/w" || e.Lone {
			t.Fatalf("%s: %+v, %v", row, e, err)
		}
		line := string(e.Kind)
		if e.Tool.Name != "" {
			line += fmt.Sprintf(" %s %s %q writes %t", e.Tool.Name, e.Tool.Target, e.Files, e.Writes)
		}
		got = append(got, line)
	}
	want := []string{
		"session-start", "prompt",
		`tool-before apply_patch notes.txt ["notes.txt"] writes true`, `tool-after apply_patch notes.txt [] writes false`,
		`tool-before Bash pwd; cat /tmp/dev/w/notes.txt [] writes true`, `tool-after Bash pwd; cat /tmp/dev/w/notes.txt [] writes false`,
		"stop", "session-end", "session-start", "prompt",
	}
	if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
		t.Errorf("heard %q\nwant %q", got, want)
	}
}

func TestEventCases(t *testing.T) {
	cli := mkfile(t, filepath.Join(t.TempDir(), "cli.jsonl"), meta(idA)+"\n")
	exec := mkfile(t, filepath.Join(t.TempDir(), "exec.jsonl"), `{"type":"session_meta","payload":{"source":"exec","base_instructions":{}}}`+"\n")
	said := mkfile(t, filepath.Join(t.TempDir(), "said.jsonl"), `{"type":"session_meta","payload":{"source":"cli","base_instructions":{"text":"","source":"exec"}}}`+"\n")
	env := sessions.Environ{Home: t.TempDir()}
	kept := mkfile(t, Adapter{}.Path(env, "", idA), meta(idA)+"\n")
	for _, c := range []struct {
		in   string
		want sessions.Event
	}{
		{`{"type":"agent-turn-complete","thread-id":"` + idA + `","turn-id":"t1","cwd":"/w","input-messages":["x"],"last-assistant-message":"well"}`,
			sessions.Event{Kind: sessions.KindStop, Name: "agent-turn-complete", SessionID: idA, Transcript: kept, Cwd: "/w", PromptID: "t1", Lone: true}},
		{`{"type":"agent-turn-complete","thread-id":"` + idB + `","turn-id":"t1","cwd":"/w"}`,
			sessions.Event{Kind: sessions.KindOther, Name: "agent-turn-complete", SessionID: idB, Cwd: "/w", PromptID: "t1", Lone: true}},
		{`{"session_id":"` + idA + `","hook_event_name":"Stop","transcript_path":null}`, sessions.Event{Kind: sessions.KindOther, Name: "Stop", SessionID: idA}},
		{`{"session_id":"` + idA + `","hook_event_name":"Interrupt","transcript_path":"/r"}`, sessions.Event{Kind: sessions.KindStop, Stopped: true, Name: "Interrupt", SessionID: idA, Transcript: "/r"}},
		{`{"session_id":"` + idA + `","hook_event_name":"SubagentStop","agent_id":"x","transcript_path":"/r"}`, sessions.Event{Kind: sessions.KindOther, Name: "SubagentStop", SessionID: idA, Transcript: "/r", Agent: "x"}},
		// In a subagent, whose rollout is another, the conversation is the one that its user has.
		{`{"session_id":"` + idA + `","hook_event_name":"PreToolUse","agent_id":"` + idB + `","transcript_path":"/r/rollout-2026-11-22T14-14-19-` + idB + `.jsonl","tool_name":"view_image"}`,
			sessions.Event{Kind: sessions.KindToolBefore, Name: "PreToolUse", SessionID: idA, Transcript: kept, Agent: idB, Tool: sessions.Tool{Name: "view_image", Agent: idB}}},
		{`{"session_id":"` + idA + `","hook_event_name":"SessionStart","transcript_path":"` + exec + `"}`,
			sessions.Event{Kind: sessions.KindSessionStart, Name: "SessionStart", SessionID: idA, Transcript: exec, Headless: true}},
		{`{"session_id":"` + idA + `","hook_event_name":"UserPromptSubmit","prompt":"p","transcript_path":"` + cli + `"}`,
			sessions.Event{Kind: sessions.KindPrompt, Name: "UserPromptSubmit", SessionID: idA, Transcript: cli, Prompt: "p"}},
		{`{"session_id":"` + idA + `","hook_event_name":"SessionStart","transcript_path":"` + said + `"}`,
			sessions.Event{Kind: sessions.KindSessionStart, Name: "SessionStart", SessionID: idA, Transcript: said}},
		{`{"session_id":"` + idA + `","hook_event_name":"PreToolUse","transcript_path":"/r","tool_name":"apply_patch","tool_use_id":"c","tool_input":{"command":"*** Begin Patch\n*** Update File: a b.go\n*** Move to: /x/c.go\r\n*** Delete File: d\n"}}`,
			sessions.Event{Kind: sessions.KindToolBefore, Name: "PreToolUse", SessionID: idA, Transcript: "/r", Writes: true, Files: []string{"a b.go", "/x/c.go", "d"},
				Tool: sessions.Tool{ID: "c", Name: "apply_patch", Target: "a b.go"}}},
		{`{"session_id":"` + idA + `","hook_event_name":"PreToolUse","transcript_path":"/r","tool_name":"view_image","tool_input":{"path":"a.png"}}`,
			sessions.Event{Kind: sessions.KindToolBefore, Name: "PreToolUse", SessionID: idA, Transcript: "/r", Tool: sessions.Tool{Name: "view_image", Target: "a.png"}}},
	} {
		got, err := Adapter{}.Event(env, "", []byte(c.in))
		if c.want.Message == "" && c.want.Lone {
			got.Message = ""
		}
		if err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c.want) {
			t.Errorf("%s\nis   %+v, %v\nwant %+v", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{
		`{"hook_event_name":"Stop"}`, `{"session_id":"x","hook_event_name":"Stop"}`, `{"session_id":"` + idA + `"}`,
		`{"session_id":"` + idA + `","hook_event_name":"Stop","cwd":"w"}`, `{"type":"agent-turn-begin","thread-id":"` + idA + `"}`, `[1]`,
	} {
		if e, err := (Adapter{}).Event(sessions.Environ{}, "", []byte(in)); !errors.Is(err, sessions.ErrBadPayload) {
			t.Errorf("%s is %+v, %v", in, e, err)
		}
	}
}

func FuzzEvent(f *testing.F) {
	for row := range bytes.Lines(fixture(f, "hooks.jsonl")) {
		f.Add(row)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		e, err := Adapter{}.Event(sessions.Environ{}, "", in)
		if err != nil {
			if !errors.Is(err, sessions.ErrBadPayload) {
				t.Errorf("%v", err)
			}
			return
		}
		if !sessions.IsUUID(e.SessionID) || e.Kind == "" || e.Name == "" {
			t.Errorf("%+v", e)
		}
	})
}

// TestToolThatAsks: the question that Codex asks in its plan mode is one from when the
// call begins.
func TestToolThatAsks(t *testing.T) {
	const payload = `{"hook_event_name":"PreToolUse","session_id":"0190c3f0-0000-7000-8000-000000000001","transcript_path":"/h/rollout-2026-01-01T00-00-00-0190c3f0-0000-7000-8000-000000000001.jsonl","cwd":"/w","tool_name":"request_user_input","tool_use_id":"c1","tool_input":{"questions":[{"id":"q","question":"Which way?"}]}}`
	e, err := Adapter{}.Event(sessions.Environ{}, "", []byte(payload))
	if err != nil || e.Kind != sessions.KindToolBefore || !e.Asks || e.Writes || e.Tool.Target != "Which way?" {
		t.Errorf("it is %+v, %v", e, err)
	}
}
