package qwen

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func TestEvent(t *testing.T) {
	chats := filepath.Join(t.TempDir(), chatsDir)
	path := filepath.Join(chats, oldID+".jsonl")
	hook := func(name, rest string) sessions.Event {
		t.Helper()
		e, err := Adapter{}.Event(sessions.Environ{}, "", fmt.Appendf(nil, `{"hook_event_name":%q,"session_id":%q,"transcript_path":%q,"cwd":"/w"%s}`, name, oldID, path, rest))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := hook("UserPromptSubmit", `,"prompt":"hi","submitted_prompt":"hi"`); e.Kind != sessions.KindPrompt || e.Prompt != "hi" {
		t.Errorf("a prompt is %+v", e)
	}
	if e := hook("UserPromptSubmit", `,"prompt":"<system-reminder>\n[Startup] Active worktree: \"w\"\n</system-reminder>\n\n\nhi","submitted_prompt":"hi"`); e.Prompt != "hi" {
		t.Errorf("a prompt in a worktree of the client's is %+v", e)
	}
	if e := hook("UserPromptSubmit", `,"prompt":""`); e.Kind != sessions.KindOther {
		t.Errorf("the return of results is %+v", e)
	}
	if e := hook("Stop", `,"last_assistant_message":"well","background_tasks":[{"type":"agent","status":"running"}]`); e.Kind != sessions.KindStop || !e.Background || e.Stopped || e.Message != "well" {
		t.Errorf("an end with a subagent at work is %+v", e)
	}
	if e := hook("PreToolUse", `,"tool_name":"write_file","tool_call_id":"c","tool_input":{"file_path":"/w/x"}`); e.Kind != sessions.KindToolBefore || !e.Writes || len(e.Files) != 1 || e.Tool.ID != "c" {
		t.Errorf("a writing call is %+v", e)
	}
	if e := hook("PreToolUse", `,"tool_name":"read_file","tool_input":{"file_path":"/w/x"}`); e.Writes || len(e.Files) != 0 {
		t.Errorf("a reading call is %+v", e)
	}
	// What it says when it waits ends a turn that was stopped, and tells nothing of another.
	const waits = `,"notification_type":"idle_prompt"`
	talk := said("a", "", prompt("one"))
	write(t, path, talk)
	if e := hook("Notification", waits); e.Kind != sessions.KindStop || !e.Stopped {
		t.Errorf("it waits after a turn that was stopped: %+v", e)
	}
	write(t, path, talk+said("b", "a", answer("1"))+said("c", "b", `"type":"system","subtype":"ui_telemetry"`))
	if e := hook("Notification", waits); e.Kind != sessions.KindOther {
		t.Errorf("it waits after its answer: %+v", e)
	}
	path = filepath.Join(t.TempDir(), "other", oldID+".jsonl")
	if e := hook("Stop", ""); e.Kind != sessions.KindOther {
		t.Errorf("another agent's session: %+v", e)
	}
	for name, payload := range map[string]string{"no event": `{"session_id":"` + oldID + `"}`, "no id": `{"hook_event_name":"Stop","session_id":"../x"}`, "no object": `[]`} {
		if e, err := (Adapter{}).Event(sessions.Environ{}, "", []byte(payload)); err == nil {
			t.Errorf("%s is %+v", name, e)
		}
	}
}
