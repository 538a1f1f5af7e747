package gemini

import (
	"errors"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func event(t *testing.T, fields string) sessions.Event {
	t.Helper()
	e, err := Adapter{}.Event(sessions.Environ{}, "", []byte(`{"session_id":"`+otherID+`","cwd":"/w",`+fields+`}`))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEvent(t *testing.T) {
	write := event(t, `"hook_event_name":"BeforeTool","tool_name":"write_file","tool_input":{"content":"x","file_path":"a.txt"}`)
	if write.Kind != sessions.KindToolBefore || !write.Writes || !slices.Equal(write.Files, []string{"a.txt"}) || write.Tool.Target != "a.txt" || write.Tool.Done {
		t.Errorf("before write_file: %+v", write)
	}
	read := event(t, `"hook_event_name":"BeforeTool","tool_name":"read_file","tool_input":{"file_path":"a.txt"}`)
	shell := event(t, `"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls\nls"}`)
	if read.Writes || read.Files != nil || !shell.Writes || shell.Files != nil || shell.Tool.Target != "ls" {
		t.Errorf("before read_file: %+v, before a command: %+v", read, shell)
	}
	for fields, failed := range map[string]bool{`{"llmContent":"x"}`: false, `{"error":{"message":"x"}}`: true, `{"error":null}`: false} {
		if e := event(t, `"hook_event_name":"AfterTool","tool_name":"glob","tool_response":`+fields); e.Kind != sessions.KindToolAfter || !e.Tool.Done || e.Tool.Failed != failed {
			t.Errorf("after a tool that says %s: %+v", fields, e)
		}
	}
	for details, want := range map[string]sessions.Tool{
		`{"type":"exec","title":"Confirm","command":"sleep 30"}`:           {Name: "run_shell_command", Target: "sleep 30"},
		`{"type":"edit","title":"Confirm","filePath":"/w/a"}`:              {Name: "write_file", Target: "/w/a"},
		`{"type":"mcp","title":"Confirm","serverName":"s","toolName":"t"}`: {Name: "t", Target: "Confirm"},
	} {
		if e := event(t, `"hook_event_name":"Notification","notification_type":"ToolPermission","details":`+details); e.Kind != sessions.KindPermission || e.Tool != want {
			t.Errorf("asked about %s: %+v", details, e)
		}
	}
	for fields, kind := range map[string]sessions.Kind{
		`"hook_event_name":"Notification","notification_type":"Other"`: sessions.KindOther,
		`"hook_event_name":"PreCompress"`:                              sessions.KindOther,
		`"hook_event_name":"AfterAgent","prompt_response":"said"`:      sessions.KindStop,
		`"hook_event_name":"SessionEnd","reason":"clear"`:              sessions.KindSessionEnd,
	} {
		if e := event(t, fields); e.Kind != kind {
			t.Errorf("%s is %+v", fields, e)
		}
	}
	if e := event(t, `"hook_event_name":"BeforeAgent","prompt":"x","source":7,"notification_type":{}`); e.Kind != sessions.KindPrompt || e.Prompt != "x" {
		t.Errorf("with an odd field it is %+v", e)
	}
	for _, bad := range []string{
		`{"hook_event_name":"AfterAgent"}`, `{"session_id":"../x","hook_event_name":"AfterAgent"}`, `{"session_id":"x"}`,
		`{"session_id":"x","hook_event_name":"AfterAgent","transcript_path":"a"}`, `{"session_id":7}`,
	} {
		if e, err := (Adapter{}).Event(sessions.Environ{}, "", []byte(bad)); !errors.Is(err, sessions.ErrBadPayload) {
			t.Errorf("%s is %+v, %v", bad, e, err)
		}
	}
}

func TestReply(t *testing.T) {
	for _, c := range []struct {
		kind sessions.Kind
		name string
		a    sessions.Answer
		want string
	}{
		{sessions.KindPrompt, "BeforeAgent", sessions.Answer{Context: "c"}, `{"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"c"}}` + "\n"},
		{sessions.KindPrompt, "BeforeAgent", sessions.Answer{Block: "b"}, `{"decision":"block","reason":"b"}` + "\n"},
		{sessions.KindToolBefore, "BeforeTool", sessions.Answer{Block: "b", Context: "c"}, `{"decision":"block","reason":"b"}` + "\n"},
		{sessions.KindToolBefore, "BeforeTool", sessions.Answer{Context: "c"}, ""},
		{sessions.KindSessionStart, "SessionStart", sessions.Answer{Context: "c"}, ""},
		{sessions.KindStop, "AfterAgent", sessions.Answer{Notice: "n"}, `{"systemMessage":"n"}` + "\n"},
	} {
		if got := string(Adapter{}.Reply(sessions.Event{Kind: c.kind, Name: c.name}, c.a)); got != c.want {
			t.Errorf("%s %+v: %q, want %q", c.name, c.a, got, c.want)
		}
	}
}

func FuzzEvent(f *testing.F) {
	for _, p := range payloads(f) {
		f.Add([]byte(p))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Adapter{}.Event(sessions.Environ{}, "", b)
		if err != nil {
			if !errors.Is(err, sessions.ErrBadPayload) {
				t.Fatal(err)
			}
			return
		}
		if !isName(e.SessionID) || e.Kind == "" || e.Name == "" {
			t.Fatalf("%+v", e)
		}
	})
}
