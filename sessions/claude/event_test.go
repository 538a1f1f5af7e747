package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// recorded is one line of the hook logs: what a real client gave to its hook.
type recorded struct {
	Event   string
	Payload json.RawMessage
	Env     map[string]string
}

func hookLog(t testing.TB, version string) []recorded {
	t.Helper()
	var all []recorded
	for _, b := range linesOf(fixture(t, version+"/hooks.jsonl")) {
		var r recorded
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

var kinds = map[string]sessions.Kind{
	"SessionStart": sessions.KindSessionStart, "UserPromptSubmit": sessions.KindPrompt, "PreToolUse": sessions.KindToolBefore,
	"PostToolUse": sessions.KindToolAfter, "PostToolUseFailure": sessions.KindToolAfter, "PostToolBatch": sessions.KindToolBatch,
	"PermissionRequest": sessions.KindPermission, "Stop": sessions.KindStop, "SessionEnd": sessions.KindSessionEnd,
}

// TestEventRecorded reads every payload that the versions gave.
func TestEventRecorded(t *testing.T) {
	for _, version := range []string{"2.0.77", "2.1.197", "2.1.329"} {
		stray, reports := 0, 0
		for i, r := range hookLog(t, version) {
			env := sessions.Environ{Vars: map[string]string{varEntrypoint: r.Env[varEntrypoint]}}
			e, err := Adapter{}.Event(env, "", r.Payload)
			if err != nil {
				t.Fatalf("%s line %d: %v", version, i+1, err)
			}
			want, ok := kinds[r.Event]
			if !ok {
				want = sessions.KindOther
			}
			if r.Event == "Stop" && e.Kind == sessions.KindOther {
				stray++
				want = e.Kind
			}
			if strings.HasPrefix(e.Prompt, "<task-notification>") {
				reports++
				want = sessions.KindGoesOn
			}
			if e.Kind != want || e.Name != r.Event || e.SessionID == "" || e.Transcript == "" || e.Cwd == "" {
				t.Errorf("%s line %d: %+v", version, i+1, e)
			}
			if e.Headless != (r.Env[varEntrypoint] == "sdk-cli") {
				t.Errorf("%s line %d: headless %t with %s", version, i+1, e.Headless, r.Env[varEntrypoint])
			}
			checkEvent(t, fmt.Sprintf("%s line %d", version, i+1), e)
		}
		if want := map[string]int{"2.1.329": 1}[version]; stray != want || reports != want {
			t.Errorf("%s: %d Stops of a cleared session, %d reports from the background, want %d of each", version, stray, reports, want)
		}
	}
}

func checkEvent(t *testing.T, where string, e sessions.Event) {
	t.Helper()
	switch e.Kind {
	case sessions.KindPrompt:
		if e.Prompt == "" {
			t.Errorf("%s: no prompt", where)
		}
	case sessions.KindSessionStart:
		if e.Source == "" {
			t.Errorf("%s: no source", where)
		}
	case sessions.KindSessionEnd:
		if e.Reason == "" {
			t.Errorf("%s: no reason", where)
		}
	case sessions.KindToolBefore, sessions.KindToolAfter:
		if e.Tool.Name == "" || e.Tool.Target == "" || e.Writes != (e.Tool.Name != "Read") {
			t.Errorf("%s: tool %+v, writes %t", where, e.Tool, e.Writes)
		}
	}
}

// TestEventBackground: the real Stop with a subagent still at work.
func TestEventBackground(t *testing.T) {
	n := 0
	for _, r := range hookLog(t, "2.1.329") {
		e, err := Adapter{}.Event(sessions.Environ{}, "", r.Payload)
		if err != nil {
			t.Fatal(err)
		}
		if e.Background {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d Stops with work going on, want 1", n)
	}
	in := `{"hook_event_name":"Stop","session_id":"` + idA + `","prompt_id":"p","background_tasks":[{"type":"shell","status":"running"},{"type":"subagent","status":"completed"}]}`
	if e, err := (Adapter{}).Event(sessions.Environ{}, "", []byte(in)); err != nil || e.Background || e.Kind != sessions.KindStop {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestEventCases(t *testing.T) {
	const head = `{"session_id":"` + idA + `",`
	for _, c := range []struct {
		name, in string
		want     sessions.Kind // "" is ErrBadPayload
	}{
		{"", ``, ""},
		{"", ` `, ""},
		{"", `null`, ""},
		{"", `[]`, ""},
		{"", `"Stop"`, ""},
		{"", `{}`, ""},
		{"Stop", `{}`, ""},
		{"", head + `"hook_event_name":"Stop"`, ""},
		{"", head + `"hook_event_name":"Stop"} trailing`, ""},
		{"", head + `"hook_event_name":7}`, ""},
		{"", `{"session_id":"not-a-uuid","hook_event_name":"Stop"}`, ""},
		{"", head + `"hook_event_name":"Stop","cwd":"relative"}`, ""},
		{"", head + `"hook_event_name":"Stop","transcript_path":"relative.jsonl"}`, ""},
		{"", head + `"hook_event_name":"Stop"}`, sessions.KindStop},
		{"Stop", head + `"x":1}`, sessions.KindStop},
		{"Stop", head + `"hook_event_name":"SessionEnd"}`, sessions.KindSessionEnd},
		{"", head + `"hook_event_name":"BrandNew","tool_name":7,"prompt":{}}`, sessions.KindOther},
		{"", head + `"hook_event_name":"Notification","notification_type":"permission_prompt"}`, sessions.KindPermission},
		{"", head + `"hook_event_name":"Notification","notification_type":"agent_needs_input"}`, sessions.KindPermission},
		{"", head + `"hook_event_name":"Notification","notification_type":"agent_needs_input","message":"Auto mode can't check actions in this session and needs your choice"}`, sessions.KindPermission},
		{"", head + `"hook_event_name":"Notification","notification_type":"agent_needs_input","message":"Teammate setup needs your input"}`, sessions.KindPermission},
		{"", head + `"hook_event_name":"Notification","notification_type":"agent_needs_input","message":"fix the login needs your input"}`, sessions.KindOther},
		{"", head + `"hook_event_name":"Notification","notification_type":"agent_needs_input","message":"fix the login needs your input: allow Bash?"}`, sessions.KindOther},
		{"", head + `"hook_event_name":"Notification","notification_type":"elicitation_dialog","message":"Claude Code needs your input"}`, sessions.KindPermission},
		{"", head + `"hook_event_name":"Notification","notification_type":"elicitation_url_dialog"}`, sessions.KindPermission},
		{"", head + `"hook_event_name":"Notification","notification_type":"agent_completed"}`, sessions.KindOther},
		{"", head + `"hook_event_name":"Notification","notification_type":"idle_prompt","message":"permission"}`, sessions.KindOther},
		{"", head + `"hook_event_name":"UserPromptSubmit","prompt":"` + strings.Repeat("x", 4<<20) + `"}`, sessions.KindPrompt},
	} {
		e, err := Adapter{}.Event(sessions.Environ{}, c.name, []byte(c.in))
		if (c.want == "") != errors.Is(err, sessions.ErrBadPayload) || err == nil && e.Kind != c.want {
			t.Errorf("%.80s: %s, %v; want %q", c.in, e.Kind, err, c.want)
		}
	}
}

// TestEventFiles: only the tools that write one file name it.
func TestEventFiles(t *testing.T) {
	for tool, want := range map[string]string{
		"Write": "/w/a", "Edit": "/w/a", "NotebookEdit": "/w/b", "Read": "", "Bash": "", "mcp__x__write": "",
	} {
		in := `{"session_id":"` + idA + `","hook_event_name":"PreToolUse","tool_name":"` + tool + `","tool_input":{"command":"c","file_path":"/w/a","notebook_path":"/w/b"}}`
		e, err := Adapter{}.Event(sessions.Environ{}, "", []byte(in))
		if err != nil || strings.Join(e.Files, " ") != want {
			t.Errorf("%s writes %q, %v; want %q", tool, e.Files, err, want)
		}
	}
}

func FuzzEvent(f *testing.F) {
	for _, version := range []string{"2.0.77", "2.1.197"} {
		for _, r := range hookLog(f, version) {
			f.Add([]byte(r.Payload))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Adapter{}.Event(sessions.Environ{}, "", b)
		if err != nil {
			if !errors.Is(err, sessions.ErrBadPayload) {
				t.Fatal(err)
			}
			return
		}
		if !sessions.IsUUID(e.SessionID) && e.Kind != sessions.KindOther || e.Kind == "" || e.Name == "" {
			t.Fatalf("%+v", e)
		}
	})
}

func TestReply(t *testing.T) {
	event := func(name string) sessions.Event {
		return sessions.Event{Kind: kinds[name], Name: name}
	}
	for _, c := range []struct {
		event  string
		answer sessions.Answer
		want   string
	}{
		{"UserPromptSubmit", sessions.Answer{}, ``},
		{"UserPromptSubmit", sessions.Answer{Context: "a \"note\"\n"}, `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"a \"note\"\n"}}`},
		{"UserPromptSubmit", sessions.Answer{Block: "done", Context: "x"}, `{"decision":"block","reason":"done"}`},
		{"UserPromptSubmit", sessions.Answer{Notice: "late"}, `{"systemMessage":"late"}`},
		{"SessionStart", sessions.Answer{Context: "you are a fork"}, `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"you are a fork"}}`},
		{"PreToolUse", sessions.Answer{Block: "not there"}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not there"}}`},
		{"PreToolUse", sessions.Answer{Context: "x"}, ``},
		{"Stop", sessions.Answer{Block: "no", Context: "x"}, ``},
		{"SessionEnd", sessions.Answer{Context: "x"}, ``},
	} {
		got := bytes.TrimSuffix((Adapter{}).Reply(event(c.event), c.answer), []byte("\n"))
		if string(got) != c.want {
			t.Errorf("%s with %+v: %s, want %s", c.event, c.answer, got, c.want)
		}
	}
}

// TestEventOfCursor: Cursor runs Claude Code's hooks, and each of its events has its version.
func TestEventOfCursor(t *testing.T) {
	for _, name := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"} {
		const id = "11111111-1111-4111-8111-111111111111"
		payload := fmt.Sprintf(`{"hook_event_name":%q,"conversation_id":%q,"cursor_version":"1.7.2","workspace_roots":["/w"],"cwd":"/w","prompt":"x"}`, name, id)
		if e, err := (Adapter{}).Event(sessions.Environ{}, "", []byte(payload)); err != nil || e.Kind != sessions.KindOther {
			t.Errorf("%s: %s %v", name, e.Kind, err)
		}
	}
}

// TestEventOfAnotherAgent: Copilot CLI runs the hooks of a project's .claude/settings.json
// (measured with 1.0.102). Nothing of it becomes a mission of Claude Code, but Claude Code
// may have been started by such an agent, or such an agent by Claude Code.
func TestEventOfAnotherAgent(t *testing.T) {
	const id = "11111111-1111-4111-8111-111111111111"
	claudes, copilots := "/h/.claude/projects/-w/"+id+".jsonl", "/h/.copilot/session-state/"+id+"/events.jsonl"
	for _, tt := range []struct {
		transcript string
		vars       map[string]string
		other      bool
	}{
		{claudes, map[string]string{"CLAUDE_PROJECT_DIR": "/w"}, false},
		{claudes, map[string]string{"COPILOT_CLI": "1"}, false},
		{copilots, map[string]string{"COPILOT_CLI": "1", "CLAUDE_PROJECT_DIR": "/w"}, true},
		{"", map[string]string{"COPILOT_CLI": "1"}, true},
		{copilots, map[string]string{"CLAUDE_PROJECT_DIR": "/w"}, true},
		{"/h/.qwen/projects/-w/chats/" + id + ".jsonl", nil, true},
		{"/h/.claude/projects/chats/" + id + ".jsonl", nil, false},
		{"", nil, false},
		{"/h/.qwen/projects/-w/chats/" + id + ".jsonl", map[string]string{"QWEN_CODE_SESSION_ID": id}, true},
		{"", map[string]string{"PI_CODING_AGENT": "true"}, true},
	} {
		env := sessions.Environ{Vars: map[string]string{}}
		for _, name := range (Adapter{}).HookVariables() {
			env.Vars[name] = tt.vars[name]
		}
		for _, name := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "SessionEnd"} {
			payload := fmt.Sprintf(`{"hook_event_name":%q,"session_id":%q,"transcript_path":%q,"cwd":"/w","prompt":"x","prompt_id":"p"}`, name, id, tt.transcript)
			e, err := (Adapter{}).Event(env, "", []byte(payload))
			if err != nil || (e.Kind == sessions.KindOther) != tt.other {
				t.Errorf("%s of %s with %v: %s %v", name, tt.transcript, tt.vars, e.Kind, err)
			}
			if out := (Adapter{}).Reply(e, sessions.Answer{}); tt.other && len(out) > 0 {
				t.Errorf("%s is answered with %s", name, out)
			}
		}
	}
}
