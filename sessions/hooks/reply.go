package hooks

import (
	"encoding/json"

	"github.com/umbra-vcs/umbra/sessions"
)

// reply is the part of a hook's output that all agents and versions know.
type reply struct {
	Decision string    `json:"decision,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Message  string    `json:"systemMessage,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event          string `json:"hookEventName"`
	Context        string `json:"additionalContext,omitempty"`
	Decision       string `json:"permissionDecision,omitempty"`
	DecisionReason string `json:"permissionDecisionReason,omitempty"`
}

// Reply is what the hook prints; nothing if there is nothing to say. A prompt
// that is blocked never reaches the model nor the transcript; a tool that is
// blocked is denied, with the reason for the model. Context goes in with a
// prompt or a session's start alone.
func Reply(e sessions.Event, a sessions.Answer) []byte {
	out := reply{Message: a.Notice}
	switch e.Kind {
	case sessions.KindPrompt, sessions.KindCommand:
		if a.Block != "" {
			out.Decision, out.Reason = "block", a.Block
		} else if a.Context != "" {
			out.Specific = &specific{Event: e.Name, Context: a.Context}
		}
	case sessions.KindSessionStart:
		if a.Context != "" {
			out.Specific = &specific{Event: e.Name, Context: a.Context}
		}
	case sessions.KindToolBefore:
		if a.Block != "" {
			out.Specific = &specific{Event: e.Name, Decision: "deny", DecisionReason: a.Block}
		}
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

// plain is what a tool reads that follows nobody's hooks.
type plain struct {
	Context string `json:"context,omitempty"`
	Block   string `json:"block,omitempty"`
}

// Plain is Reply for the plugins and tools that call Umbra by its own rules: a
// prompt or tool that is blocked does not go on, with the reason; context goes to
// the model with the prompt.
func Plain(e sessions.Event, a sessions.Answer) []byte {
	var out plain
	switch e.Kind {
	case sessions.KindPrompt:
		out = plain{Context: a.Context, Block: a.Block}
	case sessions.KindToolBefore:
		out.Block = a.Block
	}
	if out == (plain{}) {
		return nil
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil // strings always marshal
	}
	return append(b, '\n')
}
