package qwen

import (
	"strconv"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
	"github.com/umbra-vcs/umbra/sessions/parts"
)

// line is one line of a session's file; what is not read here stays encoded. Each line has
// the id of the one that it goes on from: the conversation is what leads to the last line.
type line struct {
	kind    string // user, assistant, tool_result, system
	subtype string
	id      string
	parent  string // "" for none
	session string
	cwd     string
	at      time.Time
	content []byte // the parts of a message
	payload []byte // of the client's own lines
	result  []byte // what the client says of a call's end
	usage   []byte
}

// parseLine reports false for what is no JSON object.
func parseLine(b []byte) (line, bool) {
	var l line
	c := jsontext.Walk(b)
	for key, value := range c.Members() {
		switch string(key) {
		case "type":
			l.kind = jsontext.Text(value)
		case "subtype":
			l.subtype = jsontext.Text(value)
		case "uuid":
			l.id = jsontext.Text(value)
		case "parentUuid":
			l.parent = jsontext.Text(value)
		case "sessionId":
			l.session = jsontext.Text(value)
		case "cwd":
			l.cwd = jsontext.Text(value)
		case "timestamp":
			l.at = jsontext.Time(jsontext.Raw(value))
		case "message":
			l.content = jsontext.Lookup(value, "parts")
		case "systemPayload":
			l.payload = value
		case "toolCallResult":
			l.result = value
		case "usageMetadata":
			l.usage = value
		}
	}
	return l, c.Whole()
}

// class is what a line means for the course of the conversation.
type class int

const (
	classOther   class = iota // the client's own
	classPrompt               // its user's
	classTyped                // what its user typed while the agent worked: it goes to the model with results
	classRoused               // words of the client's that the model answers: of what it left in the background, of a schedule
	classAnswer               // the agent's words or calls
	classResult               // of a call
	classSummary              // the conversation was summed up
	classUsed                 // what was asked of the model, and whether that refused
)

func (l line) classify() class {
	switch {
	case l.kind == "user" && l.subtype == "":
		return classPrompt
	case l.kind == "user" && l.subtype == "mid_turn_user_message":
		return classTyped
	case l.kind == "user":
		return classRoused
	case l.kind == "assistant":
		return classAnswer
	case l.kind == "tool_result":
		return classResult
	case l.subtype == "chat_compression":
		return classSummary
	case l.subtype == "ui_telemetry":
		return classUsed
	}
	return classOther
}

// words are a message's texts, but for thoughts.
func (l line) words() string {
	var all []string
	parts.Each(l.content, func(p parts.Part) {
		if s := jsontext.Text(p.Text); s != "" && !p.Thought {
			all = append(all, s)
		}
	})
	return strings.Join(all, "\n")
}

// typed is a prompt as its user typed it: hooks add parts to what the model is sent.
func (l line) typed() string {
	if s := jsontext.Text(jsontext.Lookup(l.payload, "displayText")); s != "" {
		return s
	}
	return withoutReminder(l.words())
}

// withoutReminder is a prompt without what the client puts before it, such as of the worktree
// that it has made.
func withoutReminder(prompt string) string {
	if strings.HasPrefix(prompt, "<system-reminder>") {
		if _, rest, ok := strings.Cut(prompt, "</system-reminder>"); ok && strings.TrimSpace(rest) != "" {
			return strings.TrimLeft(rest, "\n")
		}
	}
	return prompt
}

// calls calls f for each call of an answer.
func (l line) calls(f func(sessions.Tool)) {
	parts.Each(l.content, func(p parts.Part) {
		if p.Call != nil {
			t := called(p.Call)
			t.At = l.at
			f(t)
		}
	})
}

// ended is how a call ended.
type ended struct {
	id, status string // status: success, error, cancelled
	response   []byte
}

// results calls f for each result in a line.
func (l line) results(f func(ended)) {
	status := jsontext.Text(jsontext.Lookup(l.result, "status"))
	parts.Each(l.content, func(p parts.Part) {
		if p.Response != nil {
			f(ended{jsontext.Text(jsontext.Lookup(p.Response, "id")), status, jsontext.Lookup(p.Response, "response")})
		}
	})
}

// used is what the client notes of a request to its model: of which prompt, and the refusal.
func (l line) used() (prompt, refusal string) {
	event := jsontext.Lookup(l.payload, "uiEvent")
	if prompt = jsontext.Text(jsontext.Lookup(event, "prompt_id")); !strings.Contains(prompt, promptMark) {
		return "", "" // a request of the client's own
	}
	if jsontext.Text(jsontext.Lookup(event, "event.name")) == "qwen-code.api_error" {
		refusal = jsontext.Text(jsontext.Lookup(event, "error_message"))
	}
	return prompt, refusal
}

// promptMark stands between a session's id and a number in the id of a prompt.
const promptMark = "########"

// tokens is what an answer has used; false where it does not tell.
func (l line) tokens() (t sessions.Tokens, told bool) {
	number := func(key string) int64 {
		n, err := strconv.ParseInt(string(jsontext.Lookup(l.usage, key)), 10, 64)
		told = told || err == nil
		return n
	}
	t.Input, t.Output = number("promptTokenCount"), number("candidatesTokenCount")+number("thoughtsTokenCount")
	return t, told
}
