package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// payload is a hook's input, of any event.
type payload struct {
	Session    string          `json:"session_id"`
	Transcript string          `json:"transcript_path"`
	Cwd        string          `json:"cwd"`
	Name       string          `json:"hook_event_name"`
	Source     string          `json:"source"`
	Reason     string          `json:"reason"`
	Prompt     string          `json:"prompt"`
	Response   string          `json:"prompt_response"`
	Tool       string          `json:"tool_name"`
	Input      json.RawMessage `json:"tool_input"`
	Result     json.RawMessage `json:"tool_response"`
	Notice     string          `json:"notification_type"`
	Details    json.RawMessage `json:"details"`
}

// Event reads one hook payload. An event it does not know is KindOther; input
// that is no object with an event and a session is ErrBadPayload.
func (a Adapter) Event(env sessions.Environ, name string, input []byte) (sessions.Event, error) {
	var p payload
	if len(bytes.TrimSpace(input)) == 0 {
		return sessions.Event{}, fmt.Errorf("%w: empty input", sessions.ErrBadPayload)
	}
	if err := json.Unmarshal(input, &p); err != nil {
		return sessions.Event{}, fmt.Errorf("%w: %w", sessions.ErrBadPayload, err)
	}
	if p.Name == "" {
		p.Name = name
	}
	if err := p.check(); err != nil {
		return sessions.Event{}, err
	}
	e := sessions.Event{
		Kind: p.kind(), Name: p.Name, SessionID: p.Session, Transcript: p.file(), Cwd: p.Cwd,
		Source: p.Source, Reason: p.Reason, Prompt: p.Prompt, Message: p.Response,
	}
	switch e.Kind {
	case sessions.KindToolBefore, sessions.KindToolAfter:
		e.Tool = sessions.Tool{
			Name: p.Tool, Target: target(p.Input), Done: e.Kind == sessions.KindToolAfter,
			Failed: holdsError(p.Result),
		}
		e.Writes = e.Kind == sessions.KindToolBefore && !readers[p.Tool]
		if file := jsontext.First(p.Input, "file_path"); file != "" && e.Writes && writers[p.Tool] {
			e.Files = []string{file}
		}
	case sessions.KindPermission:
		e.Tool = asked(p.Details)
	}
	return e, nil
}

func (p payload) check() error {
	switch {
	case p.Name == "":
		return fmt.Errorf("%w: no event name", sessions.ErrBadPayload)
	case !isName(p.Session):
		return fmt.Errorf("%w: session id %.40q is none", sessions.ErrBadPayload, p.Session)
	case p.Transcript != "" && !filepath.IsAbs(p.Transcript), p.Cwd != "" && !filepath.IsAbs(p.Cwd):
		return fmt.Errorf("%w: a path in it is not absolute", sessions.ErrBadPayload)
	}
	return nil
}

// file is the session's file. What a resumption names until it is asked
// something is one of the same id that it leaves with a header alone.
func (p payload) file() string {
	if p.Transcript == "" || p.Name != "SessionStart" && p.Name != "SessionEnd" {
		return p.Transcript
	}
	if path := fileOf(filepath.Dir(p.Transcript), p.Session); path != "" {
		return path
	}
	return p.Transcript
}

func (p payload) kind() sessions.Kind {
	switch p.Name {
	case "SessionStart":
		return sessions.KindSessionStart
	case "BeforeAgent":
		return sessions.KindPrompt
	case "BeforeTool":
		return sessions.KindToolBefore
	case "AfterTool":
		return sessions.KindToolAfter
	case "Notification":
		if p.Notice == "ToolPermission" {
			return sessions.KindPermission
		}
	case "AfterAgent":
		return sessions.KindStop
	case "SessionEnd":
		return sessions.KindSessionEnd
	}
	return sessions.KindOther
}

// holdsError reports whether a tool's response tells of an error.
func holdsError(response []byte) bool {
	v := jsontext.Lookup(response, "error")
	return v != nil && string(v) != "null"
}

// asked is the tool that a question is about. Only a tool of an MCP server is
// named.
func asked(details []byte) sessions.Tool {
	tool := sessions.Tool{
		Name:   jsontext.First(details, "toolName", "type"),
		Target: sessions.Brief(jsontext.First(details, "filePath", "command", "prompt", "title")),
	}
	switch tool.Name {
	case "edit":
		tool.Name = "write_file"
	case "exec":
		tool.Name = "run_shell_command"
	}
	return tool
}
