package opencode

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// payload is what the plugin tells of an event. The names of events are those of
// Claude Code, which other agents have taken over.
type payload struct {
	Name       string          `json:"hook_event_name"`
	SessionID  string          `json:"session_id"`
	Transcript string          `json:"transcript_path"`
	Cwd        string          `json:"cwd"`
	Agent      string          `json:"agent_id"`
	PID        int             `json:"pid"`
	Headless   bool            `json:"headless"`
	Source     string          `json:"source"`
	Reason     string          `json:"reason"`
	Prompt     string          `json:"prompt"`
	PromptID   string          `json:"prompt_id"`
	Tool       string          `json:"tool_name"`
	Input      json.RawMessage `json:"tool_input"`
	ToolID     string          `json:"tool_use_id"`
}

var kinds = map[string]sessions.Kind{
	"SessionStart":      sessions.KindSessionStart,
	"UserPromptSubmit":  sessions.KindPrompt,
	"PreToolUse":        sessions.KindToolBefore,
	"PostToolUse":       sessions.KindToolAfter,
	"PermissionRequest": sessions.KindPermission,
	"Stop":              sessions.KindStop,
	"SessionEnd":        sessions.KindSessionEnd,
}

// Event reads what the plugin tells.
func (Adapter) Event(_ sessions.Environ, _ string, data []byte) (sessions.Event, error) {
	var p payload
	if err := json.Unmarshal(data, &p); err != nil {
		return sessions.Event{}, fmt.Errorf("%w: %w", sessions.ErrBadPayload, err)
	}
	if p.Name == "" || !isID(p.SessionID) || !filepath.IsAbs(p.Cwd) {
		return sessions.Event{}, fmt.Errorf("%w: it has no event, session or directory", sessions.ErrBadPayload)
	}
	e := sessions.Event{
		Kind: sessions.KindOther, Name: p.Name, SessionID: p.SessionID, Cwd: p.Cwd, Source: p.Source, Reason: p.Reason,
		Prompt: p.Prompt, PromptID: p.PromptID, Agent: p.Agent, Headless: p.Headless, PID: max(0, p.PID),
	}
	if filepath.IsAbs(p.Transcript) {
		e.Transcript = filepath.Clean(p.Transcript)
	}
	if kind, ok := kinds[p.Name]; ok {
		e.Kind = kind
	}
	switch e.Kind {
	case sessions.KindToolBefore, sessions.KindToolAfter, sessions.KindPermission:
		e.Tool = sessions.Tool{ID: p.ToolID, Name: p.Tool, Target: target(p.Input), Agent: p.Agent}
		e.Writes = e.Kind == sessions.KindToolBefore && !readers[p.Tool]
	}
	if e.Kind == sessions.KindToolBefore && slices.Contains(writers, p.Tool) {
		if file := jsontext.Text(jsontext.Lookup(p.Input, "filePath")); file != "" {
			e.Files = []string{file}
		}
	}
	return e, nil
}

// reply is what the plugin reads. A prompt or tool that is blocked ends with the
// reason; context goes to the model with the prompt.
type reply struct {
	Context string `json:"context,omitempty"`
	Block   string `json:"block,omitempty"`
}

// Reply is what the hook prints; nothing if there is nothing to say.
func (Adapter) Reply(e sessions.Event, a sessions.Answer) []byte {
	var out reply
	switch e.Kind {
	case sessions.KindPrompt:
		out = reply{Context: a.Context, Block: a.Block}
	case sessions.KindToolBefore:
		out.Block = a.Block
	}
	if out == (reply{}) {
		return nil
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil // strings always marshal
	}
	return append(b, '\n')
}
