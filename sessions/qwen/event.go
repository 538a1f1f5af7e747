package qwen

import (
	"cmp"
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Event reads one hook payload. An event that it does not know is KindOther, and so is one
// of another agent, whose transcript is no session of Qwen Code; input that is no object with
// an event and a session is ErrBadPayload.
func (Adapter) Event(_ sessions.Environ, name string, input []byte) (sessions.Event, error) {
	f, err := hooks.Read(input)
	if err != nil {
		return sessions.Event{}, err
	}
	e := sessions.Event{
		Name: cmp.Or(f.Text("hook_event_name"), name), SessionID: f.Text("session_id"), Transcript: f.Text("transcript_path"), Cwd: f.Text("cwd"),
		Source: f.Text("source"), Reason: f.Text("reason"), Prompt: withoutReminder(f.Text("prompt")), PromptID: f.Text("prompt_id"),
		Agent: f.Text("agent_id"), Message: f.Text("last_assistant_message"), Kind: sessions.KindOther,
	}
	switch {
	case e.Name == "":
		return sessions.Event{}, fmt.Errorf("%w: no event name", sessions.ErrBadPayload)
	case !sessions.IsUUID(e.SessionID):
		return sessions.Event{}, fmt.Errorf("%w: session id %.40q is no UUID", sessions.ErrBadPayload, e.SessionID)
	}
	if err := hooks.CheckPaths(e); err != nil {
		return sessions.Event{}, err
	}
	if id, ok := idOf(e.Transcript); ok && id == e.SessionID {
		e.Kind = kindOf(e, f)
	}
	input = f["tool_input"]
	switch e.Kind {
	case sessions.KindToolBefore, sessions.KindToolAfter, sessions.KindPermission:
		e.Tool = sessions.Tool{
			ID: f.Text("tool_call_id"), Name: f.Text("tool_name"), Target: sessions.Brief(wholeTarget(input)), Agent: e.Agent,
			Description: sessions.Brief(jsontext.Description(input)), Done: e.Kind == sessions.KindToolAfter, Failed: e.Name == "PostToolUseFailure",
		}
	case sessions.KindStop:
		e.Background = hooks.HasBackgroundTurn(f["background_tasks"])
		e.Stopped = e.Name == notification
	}
	if e.Kind == sessions.KindToolBefore {
		e.Writes = !isReader(e.Tool.Name)
		if file := jsontext.Text(jsontext.Lookup(input, writers[e.Tool.Name])); file != "" {
			e.Files = []string{file}
		}
	}
	return e, nil
}

const notification = "Notification"

func kindOf(e sessions.Event, f hooks.Fields) sessions.Kind {
	switch e.Name {
	case "SessionStart":
		return sessions.KindSessionStart
	case "UserPromptSubmit":
		// It also comes with each return of results, and has no prompt then.
		if f.Text("submitted_prompt") != "" {
			return sessions.KindPrompt
		}
	case "PreToolUse":
		return sessions.KindToolBefore
	case "PostToolUse", "PostToolUseFailure":
		return sessions.KindToolAfter
	case "PermissionRequest":
		return sessions.KindPermission
	case notification:
		// On a terminal it follows each turn's end. Esc has no other: then the session shows
		// that nothing was answered.
		if f.Text("notification_type") == "idle_prompt" && isUnanswered(e.Transcript) {
			return sessions.KindStop
		}
	case "Stop":
		return sessions.KindStop
	case "SessionEnd":
		return sessions.KindSessionEnd
	}
	return sessions.KindOther
}

// isUnanswered reports whether the last thing that a session says is a prompt or a call's
// result.
func isUnanswered(path string) (unanswered bool) {
	jsonlines.End(path, func(b []byte) bool {
		l, _ := parseLine(b) // what is none is the client's own
		switch l.classify() {
		case classPrompt, classTyped, classResult:
			unanswered = true
		case classAnswer:
			l.calls(func(sessions.Tool) { unanswered = true })
		case classRoused:
		default:
			return true
		}
		return false
	})
	return unanswered
}

// AnswerPatience implements sessions.LateWriting: on a terminal the client begins to write a
// turn at its end, half a second later on a quiet machine.
func (Adapter) AnswerPatience() time.Duration { return 6 * time.Second }

// Reply implements sessions.Hooked.
func (Adapter) Reply(e sessions.Event, a sessions.Answer) []byte { return hooks.Reply(e, a) }
