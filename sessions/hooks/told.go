package hooks

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Told reads the events that a Script of Umbra's tells.
type Told struct {
	IsID    func(string) bool                        // of a session
	Target  func(input []byte) string                // what a call acts on
	Readers []string                                 // the tools that change no file of the workspace
	Files   func(tool string, input []byte) []string // that a call is about to write
}

// toldKinds are the events that scripts tell of. Their names are those of Claude Code,
// which other agents have taken over.
func toldKinds() map[string]sessions.Kind {
	return map[string]sessions.Kind{
		"SessionStart":      sessions.KindSessionStart,
		"UserPromptSubmit":  sessions.KindPrompt,
		"PreToolUse":        sessions.KindToolBefore,
		"PostToolUse":       sessions.KindToolAfter,
		"PostToolBatch":     sessions.KindToolBatch,
		"PermissionRequest": sessions.KindPermission,
		"PermissionReplied": sessions.KindAnswered,
		"Stop":              sessions.KindStop,
		"StopFailure":       sessions.KindError,
		"SessionEnd":        sessions.KindSessionEnd,
	}
}

// Event reads what was told.
func (t Told) Event(data []byte) (sessions.Event, error) {
	f, err := Read(data)
	if err != nil {
		return sessions.Event{}, err
	}
	e := sessions.Event{
		Kind: sessions.KindOther, Name: f.Text("hook_event_name"), SessionID: f.Text("session_id"), Cwd: f.Text("cwd"),
		Source: f.Text("source"), Reason: f.Text("reason"), Prompt: f.Text("prompt"), PromptID: f.Text("prompt_id"),
		Agent: f.Text("agent_id"), Headless: f.Is("headless"), PID: int(f.Count("pid")),
	}
	if e.Name == "" || !t.IsID(e.SessionID) || !filepath.IsAbs(e.Cwd) {
		return sessions.Event{}, fmt.Errorf("%w: it has no event, session or directory", sessions.ErrBadPayload)
	}
	if path := f.Text("transcript_path"); filepath.IsAbs(path) {
		e.Transcript = filepath.Clean(path)
	}
	if kind, ok := toldKinds()[e.Name]; ok {
		e.Kind = kind
	}
	tool, input := f.Text("tool_name"), f["tool_input"]
	switch e.Kind {
	case sessions.KindStop:
		e.Stopped = f.Is("stopped")
	case sessions.KindError:
		e.Message = cmp.Or(sessions.Brief(f.Text("error")), "the agent's API refused")
	case sessions.KindToolBefore, sessions.KindToolAfter, sessions.KindPermission, sessions.KindAnswered:
		e.Tool = sessions.Tool{ID: f.Text("tool_use_id"), Name: tool, Target: sessions.Brief(t.Target(input)), Description: sessions.Brief(jsontext.Description(input)), Agent: e.Agent}
	}
	if e.Kind == sessions.KindToolBefore {
		e.Writes, e.Files = !slices.Contains(t.Readers, tool), t.Files(tool, input)
	}
	return e, nil
}
