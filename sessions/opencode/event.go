package opencode

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// kinds are the events that the plugin tells of. Their names are those of Claude
// Code, which other agents have taken over.
var kinds = map[string]sessions.Kind{
	"SessionStart":      sessions.KindSessionStart,
	"UserPromptSubmit":  sessions.KindPrompt,
	"PreToolUse":        sessions.KindToolBefore,
	"PostToolUse":       sessions.KindToolAfter,
	"PermissionRequest": sessions.KindPermission,
	"PermissionReplied": sessions.KindAnswered,
	"Stop":              sessions.KindStop,
	"StopFailure":       sessions.KindError,
	"SessionEnd":        sessions.KindSessionEnd,
}

// Answers says that the plugin tells of answers.
func (Adapter) Answers() {}

// Event reads what the plugin tells.
func (Adapter) Event(_ sessions.Environ, _ string, data []byte) (sessions.Event, error) {
	f, err := hooks.Read(data)
	if err != nil {
		return sessions.Event{}, err
	}
	e := sessions.Event{
		Kind: sessions.KindOther, Name: f.Text("hook_event_name"), SessionID: f.Text("session_id"), Cwd: f.Text("cwd"),
		Source: f.Text("source"), Reason: f.Text("reason"), Prompt: f.Text("prompt"), PromptID: f.Text("prompt_id"),
		Agent: f.Text("agent_id"), Headless: f.Is("headless"), PID: int(f.Count("pid")),
	}
	if e.Name == "" || !isID(e.SessionID) || !filepath.IsAbs(e.Cwd) {
		return sessions.Event{}, fmt.Errorf("%w: it has no event, session or directory", sessions.ErrBadPayload)
	}
	if path := f.Text("transcript_path"); filepath.IsAbs(path) {
		e.Transcript = filepath.Clean(path)
	}
	if kind, ok := kinds[e.Name]; ok {
		e.Kind = kind
	}
	tool, input := f.Text("tool_name"), f["tool_input"]
	switch e.Kind {
	case sessions.KindError:
		e.Message = cmp.Or(sessions.Brief(f.Text("error")), "the agent's API refused")
	case sessions.KindToolBefore, sessions.KindToolAfter, sessions.KindPermission, sessions.KindAnswered:
		e.Tool = sessions.Tool{ID: f.Text("tool_use_id"), Name: tool, Target: target(input), Description: sessions.Brief(jsontext.Description(input)), Agent: e.Agent}
		e.Writes = e.Kind == sessions.KindToolBefore && !readers[tool]
	}
	if e.Kind == sessions.KindToolBefore {
		e.Files = filesOf(tool, input)
	}
	return e, nil
}

// Reply implements sessions.Adapter.
func (Adapter) Reply(e sessions.Event, a sessions.Answer) []byte { return hooks.Plain(e, a) }
