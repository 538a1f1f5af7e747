package copilot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

func kinds() map[string]sessions.Kind {
	return map[string]sessions.Kind{
		"SessionStart": sessions.KindSessionStart, "UserPromptSubmit": sessions.KindPrompt, "PreToolUse": sessions.KindToolBefore,
		"PostToolUse": sessions.KindToolAfter, "Stop": sessions.KindStop, "SessionEnd": sessions.KindSessionEnd,
	}
}

// asking are the types of notices that come where the agent asks its user.
var asking = []string{"permission_prompt", "elicitation_dialog"}

// notice begins a prompt by which the agent tells itself what has ended in the background.
const notice = "<system_notification>"

// Event reads the payload of a hook. What is told of a subagent is the session's, and
// neither a prompt of its user's nor the end of a turn. A program without the mark of
// Copilot CLI, as an editor that runs the same hooks, is none that is known.
func (a Adapter) Event(env sessions.Environ, name string, input []byte) (sessions.Event, error) {
	f, err := hooks.Read(input)
	if err != nil {
		return sessions.Event{}, err
	}
	e := sessions.Event{
		Kind: sessions.KindOther, Name: cmp.Or(f.Text("hook_event_name"), name), SessionID: cmp.Or(f.Text("session_id"), f.Text("sessionId")),
		Cwd: f.Text("cwd"), Source: f.Text("source"), Reason: f.Text("reason"), Prompt: f.Text("prompt"), Agent: f.Text("agent_id"),
	}
	if e.Name == "" || !sessions.IsUUID(e.SessionID) || !filepath.IsAbs(e.Cwd) {
		return sessions.Event{}, fmt.Errorf("%w: it has no event, session or directory", sessions.ErrBadPayload)
	}
	if e.Agent != "" {
		e.SessionID = cmp.Or(f.Text("parent_agent_id"), e.SessionID)
	}
	e.Transcript = a.Path(env, e.Cwd, e.SessionID)
	if env.Vars[varItself] == "" || e.Agent != "" && !isThere(e.Transcript) { // a subagent's subagent
		return e, nil
	}
	e.Kind = kindOf(e, f)
	e.Source = cmp.Or(map[string]string{"new": "startup"}[e.Source], e.Source)
	if e.Kind == sessions.KindToolBefore || e.Kind == sessions.KindToolAfter {
		takeTool(&e, f)
	}
	return e, nil
}

func kindOf(e sessions.Event, f hooks.Fields) sessions.Kind {
	kind, known := kinds()[e.Name]
	switch {
	case e.Name == "Notification" && slices.Contains(asking, f.Text("notification_type")):
		return sessions.KindPermission
	case !known, e.Agent != "" && kind != sessions.KindToolBefore && kind != sessions.KindToolAfter:
		return sessions.KindOther
	case kind == sessions.KindPrompt && strings.HasPrefix(e.Prompt, notice):
		return sessions.KindGoesOn
	}
	return kind
}

// takeTool adds the call that an event is about. No payload tells its id.
func takeTool(e *sessions.Event, f hooks.Fields) {
	name, input := f.Text("tool_name"), f["tool_input"]
	e.Tool = sessions.Tool{
		Name: name, Target: sessions.Brief(wholeTarget(name, input)), Description: sessions.Brief(jsontext.Description(input)), Agent: e.Agent,
		Done: e.Kind == sessions.KindToolAfter,
	}
	if e.Kind == sessions.KindToolBefore {
		e.Writes, e.Asks, e.Files = !slices.Contains(readers(), name), slices.Contains(questions, name), filesOf(name, input)
	}
}

// reply is what a hook prints that Copilot heeds. Context goes in with a prompt or a
// session's start, a refusal of a tool with the reason for the model.
type reply struct {
	Context  string    `json:"additionalContext,omitempty"`
	Decision string    `json:"decision,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason"`
}

// Reply implements sessions.Hooked. A notice reaches nobody: Copilot shows none.
func (Adapter) Reply(e sessions.Event, a sessions.Answer) []byte {
	var out reply
	switch {
	case e.Kind == sessions.KindPrompt && a.Block != "":
		out.Decision, out.Reason = "block", a.Block
	case e.Kind == sessions.KindPrompt, e.Kind == sessions.KindSessionStart:
		out.Context = a.Context
	case e.Kind == sessions.KindToolBefore && a.Block != "":
		out.Specific = &specific{Event: e.Name, Decision: "deny", Reason: a.Block}
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
