package codex

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// kinds are the events of Codex's hooks. Interrupt says what the end of a turn
// does not: that its user has stopped it.
var kinds = map[string]sessions.Kind{
	"SessionStart": sessions.KindSessionStart, "UserPromptSubmit": sessions.KindPrompt,
	"PreToolUse": sessions.KindToolBefore, "PostToolUse": sessions.KindToolAfter, "PermissionRequest": sessions.KindPermission,
	"Stop": sessions.KindStop, "Interrupt": sessions.KindStop, "SessionEnd": sessions.KindSessionEnd,
}

// turnComplete is what Codex calls the only event that its "notify" tells of.
const turnComplete = "agent-turn-complete"

// Event reads the payload of a hook, or of the program that is set as "notify".
// An event it does not know is KindOther, and so is every one of a session that
// Codex keeps no rollout of: beside what its user sees, it has such ones of its
// own (for titles and the like). Input that is no object with an event and a
// session is ErrBadPayload.
func (a Adapter) Event(env sessions.Environ, name string, input []byte) (sessions.Event, error) {
	f, err := hooks.Read(input)
	if err != nil {
		return sessions.Event{}, err
	}
	get := f.Text
	e := sessions.Event{
		Name: get("hook_event_name"), SessionID: get("session_id"), Transcript: get("transcript_path"), Cwd: get("cwd"),
		Source: get("source"), Reason: get("reason"), Prompt: get("prompt"), PromptID: get("turn_id"),
		Agent: get("agent_id"), Message: get("last_assistant_message"),
	}
	if e.Name == "" && get("type") == turnComplete {
		e.Name, e.SessionID, e.PromptID = turnComplete, get("thread-id"), get("turn-id")
		e.Transcript, e.Lone = storeOf(env).find(e.SessionID), true
	}
	if e.Name == "" {
		e.Name = name
	}
	if of := idOf(filepath.Base(e.Transcript)); of != "" && of != e.SessionID {
		e.Transcript = storeOf(env).find(e.SessionID) // it was its subagent's
	}
	if err := check(e); err != nil {
		return sessions.Event{}, err
	}
	e.Kind = sessions.KindOther
	if e.Transcript == "" {
		return e, nil
	}
	if kind, known := kinds[e.Name]; known {
		e.Kind = kind
	} else if e.Lone {
		e.Kind = sessions.KindStop
	}
	e.Stopped = e.Name == "Interrupt"
	switch e.Kind {
	case sessions.KindSessionStart, sessions.KindPrompt:
		e.Headless = headless(e.Transcript)
	case sessions.KindToolBefore, sessions.KindToolAfter, sessions.KindPermission:
		takeTool(&e, get("tool_name"), get("tool_use_id"), f["tool_input"])
	}
	return e, nil
}

// check refuses what can't come from Codex: other agents' hooks look much the
// same.
func check(e sessions.Event) error {
	switch {
	case e.Name == "":
		return fmt.Errorf("%w: no event name", sessions.ErrBadPayload)
	case !sessions.IsUUID(e.SessionID):
		return fmt.Errorf("%w: session id %.40q is no UUID", sessions.ErrBadPayload, e.SessionID)
	}
	return hooks.CheckPaths(e)
}

// toolQuestion asks its user, which the client has in its plan mode.
const toolQuestion = "request_user_input"

// readers are the tools that change no file of the workspace. Every other tool,
// a foreign one above all, is taken to write.
var readers = map[string]bool{
	"view_image": true, "update_plan": true, toolQuestion: true, "get_goal": true, "create_goal": true, "update_goal": true,
	"web_search": true, "list_mcp_resources": true, "read_mcp_resource": true,
}

func takeTool(e *sessions.Event, name, id string, input []byte) {
	e.Tool = sessions.Tool{ID: id, Name: name, Target: target(input), Agent: e.Agent, Done: e.Kind == sessions.KindToolAfter}
	e.Writes = e.Kind == sessions.KindToolBefore && !readers[name]
	e.Asks = e.Kind == sessions.KindToolBefore && name == toolQuestion
	if name != toolPatch {
		return
	}
	files := sessions.Patched(jsontext.Text(jsontext.Lookup(input, "command")))
	if len(files) > 0 {
		e.Tool.Target = files[0]
	}
	if e.Kind == sessions.KindToolBefore {
		e.Files = files
	}
}

// headless reports whether a session was started by codex exec.
func headless(transcript string) bool { return strings.Contains(head(transcript), `"source":"exec"`) }

// Reply implements sessions.Adapter.
func (Adapter) Reply(e sessions.Event, a sessions.Answer) []byte { return hooks.Reply(e, a) }
