package gemini

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Event reads one hook payload. An event it does not know is KindOther; input
// that is no object with an event and a session is ErrBadPayload.
func (a Adapter) Event(env sessions.Environ, name string, input []byte) (sessions.Event, error) {
	f, err := hooks.Read(input)
	if err != nil {
		return sessions.Event{}, err
	}
	e := sessions.Event{
		Name: cmp.Or(f.Text("hook_event_name"), name), SessionID: f.Text("session_id"), Transcript: f.Text("transcript_path"),
		Cwd: f.Text("cwd"), Source: f.Text("source"), Reason: f.Text("reason"), Prompt: f.Text("prompt"), Message: f.Text("prompt_response"),
	}
	if err := check(e); err != nil {
		return sessions.Event{}, err
	}
	e.Kind, e.Transcript = kindOf(e.Name, f.Text("notification_type")), file(e)
	tool, toolInput := f.Text("tool_name"), f["tool_input"]
	switch e.Kind {
	case sessions.KindToolBefore, sessions.KindToolAfter:
		e.Tool = sessions.Tool{
			Name: tool, Target: target(toolInput), Description: sessions.Brief(jsontext.Description(toolInput)), Done: e.Kind == sessions.KindToolAfter,
			Failed: holdsError(f["tool_response"]),
		}
		e.Writes = e.Kind == sessions.KindToolBefore && !readers[tool]
		if file := jsontext.First(toolInput, "file_path"); file != "" && e.Writes && writers[tool] {
			e.Files = []string{file}
		}
	case sessions.KindPermission:
		e.Tool = asked(f["details"])
	}
	return e, nil
}

func check(e sessions.Event) error {
	switch {
	case e.Name == "":
		return fmt.Errorf("%w: no event name", sessions.ErrBadPayload)
	case !isName(e.SessionID):
		return fmt.Errorf("%w: session id %.40q is none", sessions.ErrBadPayload, e.SessionID)
	}
	return hooks.CheckPaths(e)
}

// file is the session's file. What a resumption names until it is asked
// something is one of the same id that it leaves with a header alone.
func file(e sessions.Event) string {
	if e.Transcript == "" || e.Name != "SessionStart" && e.Name != "SessionEnd" {
		return e.Transcript
	}
	if path := fileOf(filepath.Dir(e.Transcript), e.SessionID); path != "" {
		return path
	}
	return e.Transcript
}

// kindOf is what an event means; notice is what a notification is of.
func kindOf(name, notice string) sessions.Kind {
	switch name {
	case "SessionStart":
		return sessions.KindSessionStart
	case "BeforeAgent":
		return sessions.KindPrompt
	case "BeforeTool":
		return sessions.KindToolBefore
	case "AfterTool":
		return sessions.KindToolAfter
	case "Notification":
		if notice == "ToolPermission" {
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
