package copilot

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func payload(event, more string) string {
	return fmt.Sprintf(`{"hook_event_name":%q,"session_id":%q,"cwd":"/src/w"%s}`, event, theirs, more)
}

// TestEvent: what an event means, and whose it is.
func TestEvent(t *testing.T) {
	env := itself(t.TempDir())
	write(t, (Adapter{}).Path(env, "/src/w", theirs), header(theirs, "/src/w"))
	const ofChild = `,"agent_id":"a","agent_type":"task"`
	child := fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":%q,"parent_agent_id":%q,"agent_id":"a","cwd":"/src/w","tool_name":"Bash"}`, ours, theirs)
	grandchild := fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":%q,"agent_id":"b","cwd":"/src/w","tool_name":"Bash"}`, ours)
	for name, c := range map[string]struct {
		payload string
		kind    sessions.Kind
	}{
		"a session begins":             {payload("SessionStart", `,"source":"new"`), sessions.KindSessionStart},
		"a prompt":                     {payload("UserPromptSubmit", `,"prompt":"hello"`), sessions.KindPrompt},
		"the agent speaks to itself":   {payload("UserPromptSubmit", `,"prompt":"<system_notification>done</system_notification>"`), sessions.KindGoesOn},
		"a question":                   {payload("Notification", `,"notification_type":"permission_prompt"`), sessions.KindPermission},
		"a notice":                     {payload("Notification", `,"notification_type":"shell_completed"`), sessions.KindOther},
		"a turn ends":                  {payload("Stop", ""), sessions.KindStop},
		"a subagent's turn ends":       {payload("Stop", ofChild), sessions.KindOther},
		"a subagent is prompted":       {payload("UserPromptSubmit", ofChild), sessions.KindOther},
		"a subagent's tool":            {child, sessions.KindToolBefore},
		"a tool of its own subagent's": {grandchild, sessions.KindOther},
		"what is not known":            {payload("PreCompact", ""), sessions.KindOther},
	} {
		e, err := Adapter{}.Event(env, "", []byte(c.payload))
		if err != nil || e.Kind != c.kind || e.Kind != sessions.KindOther && e.SessionID != theirs {
			t.Errorf("%s: %s of %s, %v; want %s", name, e.Kind, e.SessionID, err, c.kind)
		}
	}
	if e, err := (Adapter{}).Event(sessions.Environ{Home: env.Home}, "", []byte(payload("Stop", ""))); err != nil || e.Kind != sessions.KindOther {
		t.Errorf("of another program, which runs the same hooks: %s, %v", e.Kind, err)
	}
	for _, bad := range []string{"", "[]", payload("", ""), `{"hook_event_name":"Stop","session_id":"../x","cwd":"/w"}`, `{"hook_event_name":"Stop","session_id":"` + theirs + `","cwd":"w"}`} {
		if e, err := (Adapter{}).Event(env, "", []byte(bad)); err == nil {
			t.Errorf("%s is %+v", bad, e)
		}
	}
}

// TestEventTool: a tool that may write is told from one that reads, with the files that it
// is about to write.
func TestEventTool(t *testing.T) {
	env := itself(t.TempDir())
	write(t, (Adapter{}).Path(env, "/src/w", theirs), header(theirs, "/src/w"))
	for tool, want := range map[string]string{
		`"Write","tool_input":{"path":"a.go","file_text":""}`:                                              "[a.go] writes true asks false target a.go",
		`"ApplyPatch","tool_input":"*** Begin Patch\n*** Update File: b.go\n*** End Patch"`:                "[b.go] writes true asks false target b.go",
		`"Bash","tool_input":{"command":"make"}`:                                                           "[] writes true asks false target make",
		`"Read","tool_input":{"path":"a.go"}`:                                                              "[] writes false asks false target a.go",
		`"mcp__x__y","tool_input":{"query":"q"}`:                                                           "[] writes true asks false target q",
		`"AskUserQuestion","tool_input":{"question":"which?"}`:                                             "[] writes false asks true target ",
		`"edit","tool_input":{"path":"` + filepath.ToSlash("/src/w/c.go") + `","old_str":"","new_str":""}`: "[/src/w/c.go] writes true asks false target /src/w/c.go",
	} {
		e, err := Adapter{}.Event(env, "", []byte(payload("PreToolUse", `,"tool_name":`+tool)))
		if got := fmt.Sprintf("%v writes %t asks %t target %s", e.Files, e.Writes, e.Asks, e.Tool.Target); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", tool, got, err, want)
		}
	}
}

// TestReply: a tool is denied in the words that Copilot heeds; nothing else is.
func TestReply(t *testing.T) {
	for want, c := range map[string]struct {
		kind   sessions.Kind
		answer sessions.Answer
	}{
		`{"additionalContext":"told"}`:       {sessions.KindPrompt, sessions.Answer{Context: "told"}},
		`{"decision":"block","reason":"no"}`: {sessions.KindPrompt, sessions.Answer{Block: "no", Context: "told"}},
		``:                                   {sessions.KindStop, sessions.Answer{Context: "told", Block: "no"}},
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`: {sessions.KindToolBefore, sessions.Answer{Block: "no"}},
	} {
		if want != "" {
			want += "\n"
		}
		if got := string((Adapter{}).Reply(sessions.Event{Kind: c.kind, Name: "PreToolUse"}, c.answer)); got != want {
			t.Errorf("%s is answered %q, want %q", c.kind, got, want)
		}
	}
}
