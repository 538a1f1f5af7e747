package gemini

import (
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
	"github.com/umbra-vcs/umbra/sessions/parts"
)

// line is what one line of a session file says, with its values left encoded and
// pointing into the line. It is one of four: a message, one taken back with all
// after it, a patch of what the file says ("$set"), or a header, which begins the
// file and each resumption within the minute of its name.
type line struct {
	message message
	rewind  []byte // the id of the first message that is taken back
	set     []byte // an object
	session []byte // of a header, or of a patch
	hash    []byte // of the header: SHA-256 of the working directory
	list    []byte // all messages from now on: of a patch, or of a header
}

// parseLine reports false for a line that is no JSON object.
func parseLine(b []byte) (line, bool) {
	var l line
	c := jsontext.Walk(b)
	for key, value := range c.Members() {
		switch string(key) {
		case "$rewindTo":
			l.rewind = jsontext.Raw(value)
		case "$set":
			l.set = value
		case "sessionId":
			l.session = jsontext.Raw(value)
		case "projectHash":
			l.hash = jsontext.Raw(value)
		case "messages":
			l.list = value
		default:
			l.message.take(string(key), value)
		}
	}
	if l.rewind == nil && l.message.id == nil && len(l.set) > 0 {
		l.session, l.hash, l.list = jsontext.Raw(jsontext.Lookup(l.set, "sessionId")), nil, jsontext.Lookup(l.set, "messages")
	}
	return l, c.Whole()
}

// replaces reports whether the line says which messages there are.
func (l line) replaces() bool {
	return l.rewind == nil && l.message.id == nil && len(l.list) > 0 && l.list[0] == '['
}

// messages calls f for each message of a list.
func messages(list []byte, f func(message)) {
	c := jsontext.Walk(list)
	for value := range c.Elements() {
		if m := parseMessage(value); m.id != nil {
			f(m)
		}
	}
}

// message is one message; a later one of its id replaces it.
type message struct {
	id      []byte
	kind    []byte // user, gemini; info, warning, error are the client's own
	time    []byte
	content []byte // a string, a part or a list of parts
	shown   []byte // the same as its user typed it, if that is something else
	calls   []byte // tool calls with their results
	tokens  []byte
}

func parseMessage(b []byte) message {
	var m message
	c := jsontext.Walk(b)
	for key, value := range c.Members() {
		m.take(string(key), value)
	}
	return m
}

func (m *message) take(key string, value []byte) {
	switch key {
	case "id":
		m.id = jsontext.Raw(value)
	case "type":
		m.kind = jsontext.Raw(value)
	case "timestamp":
		m.time = jsontext.Raw(value)
	case "content":
		m.content = value
	case "displayContent":
		m.shown = value
	case "toolCalls":
		m.calls = value
	case "tokens":
		m.tokens = value
	}
}

// What the client and hooks say beside the user's words is in parts of their
// own, or, at the start of a run without a terminal, before the prompt.
const (
	markSession = "<session_context>"
	markHook    = "<hook_context>"
	endHook     = "</hook_context>"
)

// typed is a text without what nobody typed.
func typed(s string) string {
	for strings.HasPrefix(s, markHook) {
		_, rest, ok := strings.Cut(s, endHook)
		if !ok {
			return ""
		}
		s = strings.TrimLeft(rest, "\n")
	}
	if strings.HasPrefix(s, markSession) {
		return ""
	}
	return s
}

// words joins the text of a content, without thoughts and what nobody typed.
func words(content []byte) string {
	var all []string
	parts.Each(content, func(p parts.Part) {
		if s := typed(jsontext.Text(p.Text)); s != "" && !p.Thought {
			all = append(all, s)
		}
	})
	return strings.Join(all, "\n")
}

// prompt is a prompt as its user typed it.
func (m message) prompt() string {
	if s := words(m.shown); s != "" {
		return s
	}
	return words(m.content)
}

// class is what a message means for the course of the conversation.
type class int

const (
	classOther   class = iota // the client's own words, or an answer of which nothing is there yet
	classPrompt               // the user's prompt
	classResults              // of tool calls
	classAnswer               // the agent's words or tool calls
)

func (m message) classify() class {
	switch string(m.kind) {
	case "user":
		return m.classifyUser()
	case "gemini":
		return m.classifyAnswer()
	}
	return classOther
}

func (m message) classifyUser() class {
	c := classOther
	parts.Each(m.content, func(p parts.Part) {
		switch {
		case p.Response != nil:
			c = classResults
		case c == classOther && strings.TrimSpace(typed(jsontext.Text(p.Text))) != "":
			c = classPrompt
		}
	})
	return c
}

// retells reports whether a message begins the whole conversation anew, as the
// client writes it when its user has cancelled at a question: what it tells its
// model at the start and the first prompts are one message there.
func (m message) retells() bool {
	if m.classify() != classPrompt {
		return false
	}
	told := false
	parts.Each(m.content, func(p parts.Part) { told = told || strings.HasPrefix(jsontext.Text(p.Text), markSession) })
	return told
}

// aside reports whether a message is the client's own, and no part of the
// conversation.
func (m message) aside() bool {
	switch string(m.kind) {
	case "info", "warning", "error":
		return true
	}
	return false
}

// refuses reports whether a message says that the API has refused, in the words in
// which the client says nothing else
// (packages/core/src/utils/errorParsing.ts).
func (m message) refuses() bool {
	return string(m.kind) == "error" && strings.HasPrefix(jsontext.Text(m.content), "[API Error: ")
}

func (m message) classifyAnswer() class {
	if strings.TrimSpace(words(m.content)) != "" {
		return classAnswer
	}
	c := classOther
	m.toolCalls(func(call) { c = classAnswer })
	return c
}

// call is a tool call and what became of it.
type call struct {
	tool      sessions.Tool
	cancelled bool
	result    []byte // what it gave back, in JSON
}

// toolCalls calls f for each tool call of an answer: those with their results,
// which are written when they have ended, and those that stand in the content,
// whose results follow in a message of their own.
func (m message) toolCalls(f func(call)) {
	c := jsontext.Walk(m.calls)
	for value := range c.Elements() {
		f(parseCall(value))
	}
	parts.Each(m.content, func(p parts.Part) {
		if p.Call != nil {
			f(call{tool: sessions.Tool{
				ID: jsontext.Text(jsontext.Lookup(p.Call, "id")), Name: jsontext.Text(jsontext.Lookup(p.Call, "name")),
				Target: target(jsontext.Lookup(p.Call, "args")), Whole: wholeTarget(jsontext.Lookup(p.Call, "args")), At: jsontext.Time(m.time),
			}})
		}
	})
}

func parseCall(b []byte) call {
	var one call
	c := jsontext.Walk(b)
	for key, value := range c.Members() {
		switch string(key) {
		case "id":
			one.tool.ID = jsontext.Text(value)
		case "name":
			one.tool.Name = jsontext.Text(value)
		case "args":
			one.tool.Target, one.tool.Whole = target(value), wholeTarget(value)
		case "timestamp":
			one.tool.At = jsontext.Time(jsontext.Raw(value))
		case "result":
			one.result = value
			one.tool.Done = one.tool.Done || string(value) != "null"
			one.tool.Exit = sessions.ExitCode(value, exitMark)
		case "status":
			status := string(jsontext.Raw(value))
			one.cancelled = status == "cancelled"
			one.tool.Failed = status == "error" || one.cancelled
			one.tool.Done = one.tool.Done || one.tool.Failed || status == "success"
		}
	}
	return one
}

// exitMark stands before the exit code in the result of a command that failed.
const exitMark = `\nExit Code: `

// responses calls f for each tool result of a message.
func (m message) responses(f func(id string, failed bool, exit string, result []byte)) {
	parts.Each(m.content, func(p parts.Part) {
		if p.Response != nil {
			answer := jsontext.Lookup(p.Response, "response")
			f(jsontext.Text(jsontext.Lookup(p.Response, "id")), jsontext.Lookup(answer, "error") != nil, sessions.ExitCode(answer, exitMark), answer)
		}
	})
}
