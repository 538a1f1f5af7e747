package copilot

import (
	"strconv"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// The types of line that matter here. The conversation is what stands in the file, in its
// order; what names an agent is a subagent's.
const (
	typeStart     = "session.start"
	typeResume    = "session.resume"
	typeContext   = "session.context_changed"
	typePrompt    = "user.message"
	typeBegins    = "assistant.turn_start" // a call of the model, of which a turn has several
	typeAnswer    = "assistant.message"
	typeEnds      = "assistant.turn_end"
	typeResult    = "tool.execution_complete"
	typeAbort     = "abort"
	typeError     = "session.error"
	typeCompacted = "session.compaction_complete"
	typeUsage     = "session.usage_record"
	typeHook      = "hook.start"
)

// line is one line of a session's file; what is not read here stays encoded.
type line struct {
	kind  string
	id    string
	agent string
	at    time.Time
	data  []byte
}

// parseLine reports false for what is no JSON object.
func parseLine(b []byte) (line, bool) {
	var l line
	c := jsontext.Walk(b)
	for key, value := range c.Members() {
		switch string(key) {
		case "type":
			l.kind = jsontext.Text(value)
		case "id":
			l.id = jsontext.Text(value)
		case "agentId":
			l.agent = jsontext.Text(value)
		case "timestamp":
			l.at = jsontext.Time(jsontext.Raw(value))
		case "data":
			l.data = value
		}
	}
	return l, c.Whole()
}

// identity is the session and the directory that a session's first line tells.
func (l line) identity() (id, cwd string) {
	return l.text("sessionId"), jsontext.Text(jsontext.Lookup(jsontext.Lookup(l.data, "context"), "cwd"))
}

func (l line) text(name string) string { return jsontext.Text(jsontext.Lookup(l.data, name)) }

// prompting is how a prompt comes to be in a conversation.
type prompting int

const (
	asked  prompting = iota // its user begins a turn
	within                  // its user adds to the turn that runs
	byItself
)

// prompting tells of a prompt. What the agent says to itself (a skill, another agent, its
// autopilot) names its source.
func (l line) prompting() prompting {
	switch source := l.text("source"); {
	case source != "" && source != "user" || jsontext.IsTrue(jsontext.Lookup(l.data, "isAutopilotContinuation")):
		return byItself
	case l.text("delivery") == "steering":
		return within
	}
	return asked
}

// announces reports whether a line tells a hook of a prompt that is not in the conversation
// yet: it stands before that.
func (l line) announces() bool {
	if l.kind != typeHook {
		return false
	}
	input := jsontext.Lookup(l.data, "input")
	return jsontext.Lookup(input, "prompt") != nil || jsontext.Lookup(input, "initialPrompt") != nil
}

// calls are the calls that an answer asks for.
func (l line) calls() (calls []sessions.Tool) {
	list := jsontext.Walk(jsontext.Lookup(l.data, "toolRequests"))
	for request := range list.Elements() {
		calls = append(calls, callOf(request))
	}
	return calls
}

// result is what a call gave back, or why it gave nothing.
func (l line) result() string {
	if text := jsontext.Text(jsontext.Lookup(jsontext.Lookup(l.data, "result"), "content")); text != "" {
		return text
	}
	return jsontext.Text(jsontext.Lookup(jsontext.Lookup(l.data, "error"), "message"))
}

func number(value []byte) int64 {
	n, _ := strconv.ParseInt(string(value), 10, 64)
	return n
}
