package claude

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Event reads one hook payload of versions 2.0 to 2.1. An event it does not know
// is KindOther, and so is one of Cursor's, which has nothing else; input that is no object
// with an event and a session is ErrBadPayload.
func (a Adapter) Event(env sessions.Environ, name string, input []byte) (sessions.Event, error) {
	f, err := hooks.Read(input)
	if err != nil {
		return sessions.Event{}, err
	}
	e := sessions.Event{
		Name: cmp.Or(f.Text("hook_event_name"), name), SessionID: f.Text("session_id"), Transcript: f.Text("transcript_path"), Cwd: f.Text("cwd"),
		Source: f.Text("source"), Reason: f.Text("reason"), Prompt: f.Text("prompt"), PromptID: f.Text("prompt_id"),
		Agent: f.Text("agent_id"), Message: f.Text("last_assistant_message"),
		Headless: strings.HasPrefix(env.Vars[varEntrypoint], "sdk-"),
	}
	if f.Text(cursorsField) != "" {
		return sessions.Event{Name: cmp.Or(e.Name, "Other"), Kind: sessions.KindOther}, nil
	}
	if err := check(e); err != nil {
		return sessions.Event{}, err
	}
	if isOtherAgents(env, e) {
		e.Kind = sessions.KindOther
		return e, nil
	}
	if e.Source == "fork" && env.Vars[varBackground] != "" {
		e.Source = sessions.SourceBackground
	}
	e.Kind = kindOf(e, f)
	if name, words, ok := commandIn(e.Prompt); ok && e.Kind == sessions.KindPrompt && commandIsOurs(name, a.Root(env), env.Home, e.Cwd) {
		if e.Kind, e.Command = sessions.KindCommand, words; name == sideCommandName || name == pluginCommands {
			e.Command = strings.TrimSpace(sessions.SideCommand + " " + words)
		}
	}
	if e.Kind == sessions.KindSessionStart && commandIsOurs(sideCommandName, a.Root(env), env.Home, e.Cwd) {
		e.Command = sessions.SideCommand
	}
	e.PID, _ = a.PID(env)
	tool, toolInput := f.Text("tool_name"), f["tool_input"]
	switch e.Kind {
	case sessions.KindToolBefore, sessions.KindToolAfter, sessions.KindPermission:
		e.Tool = sessions.Tool{
			ID: f.Text("tool_use_id"), Name: tool, Target: target(toolInput), Agent: e.Agent, Description: sessions.Brief(jsontext.Description(toolInput)),
			Done: e.Kind == sessions.KindToolAfter, Failed: e.Name == "PostToolUseFailure",
		}
		e.Writes = e.Kind != sessions.KindPermission && !isReader(tool)
		e.Asks = e.Kind == sessions.KindToolBefore && asks[tool]
		if file := jsontext.Text(jsontext.Lookup(toolInput, writers[tool])); e.Kind == sessions.KindToolBefore && file != "" {
			e.Files = []string{file}
		}
		e.Within = asksWithin[f.Text("notification_type")]
	case sessions.KindStop:
		e.Background = hooks.HasBackgroundTurn(f["background_tasks"])
	}
	return e, nil
}

// cursorsField is in each event of Cursor, which runs the hooks of Claude Code's settings,
// the user's own too (https://cursor.com/docs/reference/third-party-hooks).
const cursorsField = "cursor_version"

// isOtherAgents reports an event of another agent: Copilot CLI runs the hooks of a
// project's .claude/settings.json, with Claude Code's names for its events and a
// transcript of its own. The variables alone don't tell, since Claude Code may have been
// started by such an agent: its transcript is STORE/projects/DIRECTORY/SESSION.jsonl. Nor
// are they always there: whoever wraps a hook may have left them out.
func isOtherAgents(env sessions.Environ, e sessions.Event) bool {
	dir, name := filepath.Split(e.Transcript)
	above := filepath.Base(filepath.Dir(filepath.Clean(dir)))
	claudes := name == e.SessionID+".jsonl" && above == "projects"
	copilots, qwens := name == "events.jsonl" && above == "session-state", filepath.Base(dir) == "chats"
	return !claudes && (copilots || qwens || slices.ContainsFunc(otherAgents, func(name string) bool { return env.Vars[name] != "" }))
}

// check refuses what can't come from Claude Code: other agents' hooks look much
// the same.
func check(e sessions.Event) error {
	switch {
	case e.Name == "":
		return fmt.Errorf("%w: no event name", sessions.ErrBadPayload)
	case !sessions.IsUUID(e.SessionID):
		return fmt.Errorf("%w: session id %.40q is no UUID", sessions.ErrBadPayload, e.SessionID)
	}
	return hooks.CheckPaths(e)
}

// taskReport begins the prompt by which 2.1 tells the model that a subagent or a
// command has ended which it had left in the background. Nobody has typed it.
const taskReport = "<task-notification>"

// statusLineEvent names what a status line's command is given on stdin, which
// has much of a hook's payload but no event.
const statusLineEvent = "StatusLine"

// asksWithin are the types of notices that 2.1 gives some six seconds after it has
// asked in its turn, but not for a permission: where an MCP server asks and, of 2.1.329,
// where auto mode can't judge what is to run. A dialog that its user has opened has none.
var asksWithin = map[string]bool{needsInput: true, "elicitation_dialog": true, "elicitation_url_dialog": true}

// needsInput is also the type of the notices of 2.1.329 about agents in its background.
const needsInput = "agent_needs_input"

// isOfAnother reports whether a notice is about an agent in the background: it is "NAME
// needs your input", with or without for what. One of its own is worded so too.
func isOfAnother(kind, message string) bool {
	const ask, own = " needs your input", "Teammate setup needs your input"
	return kind == needsInput && message != own && (strings.HasSuffix(message, ask) || strings.Contains(message, ask+": "))
}

func kindOf(e sessions.Event, f hooks.Fields) sessions.Kind {
	switch e.Name {
	case "SessionStart":
		return sessions.KindSessionStart
	case "UserPromptSubmit":
		if strings.HasPrefix(e.Prompt, taskReport) {
			return sessions.KindGoesOn
		}
		return sessions.KindPrompt
	case "PreToolUse":
		return sessions.KindToolBefore
	case "PostToolUse", "PostToolUseFailure":
		return sessions.KindToolAfter
	case "PostToolBatch":
		return sessions.KindToolBatch
	case "PermissionRequest":
		return sessions.KindPermission
	case "Notification":
		kind := f.Text("notification_type")
		if kind == "permission_prompt" || asksWithin[kind] && !isOfAnother(kind, f.Text("message")) {
			return sessions.KindPermission
		}
	case "Stop":
		// /clear typed while a turn ends: 2.1 says Stop with the new session's id
		// and the old turn's last message, and only then without a prompt's id.
		if recent := f["background_tasks"] != nil || f["effort"] != nil; recent && e.PromptID == "" {
			return sessions.KindOther
		}
		return sessions.KindStop
	case "SessionEnd":
		return sessions.KindSessionEnd
	case statusLineEvent:
		return sessions.KindStatusLine
	}
	return sessions.KindOther
}

// Reply implements sessions.Adapter.
func (Adapter) Reply(e sessions.Event, a sessions.Answer) []byte { return hooks.Reply(e, a) }
