package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// payload is a hook's input, of any event and version.
type payload struct {
	session, transcript, cwd, name string
	source, reason                 string
	prompt, promptID               string
	toolName, toolID               string
	toolInput                      []byte
	agent                          string
	message                        string
	notice, noticeKind             string
	background                     []byte
	recent                         bool // has a field that only 2.1 sends
}

// Event reads one hook payload of versions 1.0 to 2.1. An event it does not know
// is KindOther; input that is no object with an event and a session is
// ErrBadPayload.
func (a Adapter) Event(env sessions.Environ, name string, input []byte) (sessions.Event, error) {
	p, err := parsePayload(input)
	if err != nil {
		return sessions.Event{}, err
	}
	if p.name == "" {
		p.name = name
	}
	if err := p.check(); err != nil {
		return sessions.Event{}, err
	}
	e := sessions.Event{
		Kind: p.kind(), Name: p.name, SessionID: p.session, Transcript: p.transcript, Cwd: p.cwd,
		Source: p.source, Reason: p.reason, Prompt: p.prompt, PromptID: p.promptID,
		Agent: p.agent, Message: p.message,
		Headless: strings.HasPrefix(env.Vars[varEntrypoint], "sdk-"),
	}
	if words, ok := commandIn(p.prompt); ok && e.Kind == sessions.KindPrompt && a.commandIsOurs(env, p.cwd) {
		e.Kind, e.Command = sessions.KindCommand, words
	}
	e.PID, _ = a.PID(env)
	switch e.Kind {
	case sessions.KindToolBefore, sessions.KindToolAfter, sessions.KindPermission:
		e.Tool = sessions.Tool{
			ID: p.toolID, Name: p.toolName, Target: target(p.toolInput), Agent: p.agent,
			Done: e.Kind == sessions.KindToolAfter, Failed: p.name == "PostToolUseFailure",
		}
		e.Writes = e.Kind == sessions.KindToolBefore && !readers[p.toolName]
		if file := jsontext.Text(jsontext.Lookup(p.toolInput, writers[p.toolName])); e.Writes && file != "" {
			e.Files = []string{file}
		}
	case sessions.KindStop:
		e.Background = hasBackgroundTurn(p.background)
	}
	return e, nil
}

func parsePayload(input []byte) (payload, error) {
	var p payload
	input = bytes.TrimSpace(input)
	if len(input) == 0 {
		return p, fmt.Errorf("%w: empty input", sessions.ErrBadPayload)
	}
	if !json.Valid(input) || input[0] != '{' {
		return p, fmt.Errorf("%w: no JSON object", sessions.ErrBadPayload)
	}
	c := jsontext.Walk(input)
	for {
		key, value, ok := c.Member()
		if !ok {
			return p, nil
		}
		p.set(string(key), value)
	}
}

func (p *payload) set(key string, value []byte) {
	fields := map[string]*string{
		"session_id": &p.session, "transcript_path": &p.transcript, "cwd": &p.cwd, "hook_event_name": &p.name,
		"source": &p.source, "reason": &p.reason, "prompt": &p.prompt, "prompt_id": &p.promptID,
		"tool_name": &p.toolName, "tool_use_id": &p.toolID, "agent_id": &p.agent,
		"last_assistant_message": &p.message, "message": &p.notice, "notification_type": &p.noticeKind,
	}
	if field, ok := fields[key]; ok {
		*field = jsontext.Text(value)
		return
	}
	switch key {
	case "tool_input":
		p.toolInput = value
	case "background_tasks":
		p.background = value
		p.recent = true
	case "effort":
		p.recent = true
	}
}

// check refuses what can't come from Claude Code: other agents' hooks look much
// the same.
func (p payload) check() error {
	switch {
	case p.name == "":
		return fmt.Errorf("%w: no event name", sessions.ErrBadPayload)
	case !sessions.IsUUID(p.session):
		return fmt.Errorf("%w: session id %.40q is no UUID", sessions.ErrBadPayload, p.session)
	case p.transcript != "" && !filepath.IsAbs(p.transcript), p.cwd != "" && !filepath.IsAbs(p.cwd):
		return fmt.Errorf("%w: a path in it is not absolute", sessions.ErrBadPayload)
	}
	return nil
}

// statusLineEvent names what a status line's command is given on stdin, which
// has much of a hook's payload but no event.
const statusLineEvent = "StatusLine"

func (p payload) kind() sessions.Kind {
	switch p.name {
	case "SessionStart":
		return sessions.KindSessionStart
	case "UserPromptSubmit":
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
		// 1.0 has no type; its other notice is "Claude is waiting for your input".
		if p.noticeKind == "permission_prompt" || p.noticeKind == "" && strings.Contains(p.notice, "permission") {
			return sessions.KindPermission
		}
	case "Stop":
		// /clear typed while a turn ends: 2.1 says Stop with the new session's id
		// and the old turn's last message, and only then without a prompt's id.
		if p.recent && p.promptID == "" {
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

// hasBackgroundTurn reports whether a subagent or the like still works on what
// was asked; when it is done the agent goes on by itself. A shell that was left
// running, such as a development server, is not waited for.
func hasBackgroundTurn(tasks []byte) bool {
	c := jsontext.Walk(tasks)
	for {
		task, ok := c.Element()
		if !ok {
			return false
		}
		status := jsontext.Text(jsontext.Lookup(task, "status"))
		switch jsontext.Text(jsontext.Lookup(task, "type")) {
		case "shell", "monitor":
			continue
		}
		if status == "running" || status == "pending" {
			return true
		}
	}
}

// Reply implements sessions.Adapter.
func (Adapter) Reply(e sessions.Event, a sessions.Answer) []byte { return hooks.Reply(e, a) }
