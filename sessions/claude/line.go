package claude

import (
	"bytes"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// line is what one line of a transcript says, with its values left encoded and
// pointing into the line.
type line struct {
	kind       string // top-level "type"
	subtype    []byte
	uuid       []byte
	parent     []byte
	logical    []byte // of a compaction: what it sums up
	time       []byte
	session    []byte
	origin     []byte // requestSessionId: the session that a line was copied from
	cwd        []byte
	agent      []byte
	promptID   []byte
	message    []byte
	attachment []byte
	lastPrompt []byte
	compact    []byte // compactMetadata
	leaf       []byte
	meta       bool
	summary    bool // isCompactSummary
	apiError   bool
	explicit   bool
}

// parseLine reports false for a line that is no JSON object.
func parseLine(b []byte) (line, bool) {
	var l line
	c := jsontext.Walk(b)
	for key, value := range c.Members() {
		switch string(key) {
		case "type":
			l.kind = jsontext.Text(value)
		case "subtype":
			l.subtype = jsontext.Raw(value)
		case "uuid":
			l.uuid = jsontext.Raw(value)
		case "parentUuid":
			l.parent = jsontext.Raw(value)
		case "logicalParentUuid":
			l.logical = jsontext.Raw(value)
		case "timestamp":
			l.time = jsontext.Raw(value)
		case "sessionId":
			l.session = jsontext.Raw(value)
		case "requestSessionId":
			l.origin = jsontext.Raw(value)
		case "cwd":
			l.cwd = value
		case "agentId":
			l.agent = jsontext.Raw(value)
		case "promptId":
			l.promptID = jsontext.Raw(value)
		case "message":
			l.message = value
		case "attachment":
			l.attachment = value
		case "lastPrompt":
			l.lastPrompt = value
		case "compactMetadata":
			l.compact = value
		case "leafUuid":
			l.leaf = jsontext.Raw(value)
		case "isMeta":
			l.meta = jsontext.IsTrue(value)
		case "isCompactSummary":
			l.summary = jsontext.IsTrue(value)
		case "isApiErrorMessage":
			l.apiError = jsontext.IsTrue(value)
		case "explicit":
			l.explicit = jsontext.IsTrue(value)
		}
	}
	return l, c.Whole()
}

func (l line) at() time.Time { return jsontext.Time(l.time) }

// message is the API message of a user or assistant line.
type message struct {
	id      []byte
	content []byte // a string or an array of blocks
	stop    string // stop_reason
	usage   []byte
}

func parseMessage(b []byte) message {
	var m message
	c := jsontext.Walk(b)
	for key, value := range c.Members() {
		switch string(key) {
		case "id":
			m.id = jsontext.Raw(value)
		case "content":
			m.content = value
		case "stop_reason":
			m.stop = jsontext.Text(value)
		case "usage":
			m.usage = value
		}
	}
	return m
}

// ended reports whether a message says that its model has ended what it has to say. A
// line of a part of one says nothing.
func (m message) ended() bool { return m.stop == "end_turn" || m.stop == "stop_sequence" }

// block is one content block of a message.
type block struct {
	kind  string
	id    string // of a tool_use, or the one a tool_result answers
	name  []byte
	text  []byte
	input []byte
	// result is the content of a tool_result.
	result []byte
	fail   bool
}

// blocks calls f for each block of a message's content; plain text is one.
func blocks(content []byte, f func(block)) {
	if len(content) > 0 && content[0] == '"' {
		f(block{kind: "text", text: content})
		return
	}
	c := jsontext.Walk(content)
	for value := range c.Elements() {
		f(parseBlock(value))
	}
}

func parseBlock(value []byte) block {
	var b block
	c := jsontext.Walk(value)
	for key, v := range c.Members() {
		switch string(key) {
		case "type":
			b.kind = jsontext.Text(v)
		case "id", "tool_use_id":
			b.id = jsontext.Text(v)
		case "name":
			b.name = v
		case "text":
			b.text = v
		case "input":
			b.input = v
		case "content":
			b.result = v
		case "is_error":
			b.fail = jsontext.IsTrue(v)
		}
	}
	return b
}

// class is what a line means for the course of the conversation.
type class int

const (
	classOther     class = iota // says nothing of the conversation; may hold anything
	classTail                   // housekeeping that may follow a finished answer
	classAnswer                 // the agent's words or tool calls
	classThinking               // the agent's thoughts alone
	classAPIError               // the API refused
	classPrompt                 // the user's prompt
	classCommand                // a slash command: local, or one that becomes a prompt
	classLocal                  // what a local command printed
	classMeta                   // words the client put in the user's mouth
	classQueued                 // what the user typed while the agent worked
	classResult                 // tool results
	classInterrupt              // the user stopped the turn
	classBoundary               // a compaction begins
	classSummary                // the summary of a compaction
)

// makesPrompt reports whether a line says that the slash command before it has become a
// prompt: the client, or the agent, answered it by more than what a local one prints.
func (c class) makesPrompt() bool {
	return c == classMeta || c == classAnswer || c == classThinking || c == classAPIError
}

// tails are the housekeeping types seen after a finished answer that hold
// nothing of the next prompt.
var tails = map[string]bool{
	"mode": true, "permission-mode": true, "atis-latch": true, "cost-state": true,
	"tools-used": true, "custom-title": true, "agent-name": true, "agent-color": true,
	"agent-setting": true, "ai-title": true, "tag": true, "pr-link": true, "summary": true,
	"worktree-state": true, "file-history-snapshot": true, "file-history-delta": true,
}

// classify also returns the line's message if it has one.
func (l line) classify() (class, message) {
	switch l.kind {
	case "user", "assistant":
		m := parseMessage(l.message)
		if l.kind == "assistant" {
			return l.classifyAnswer(m), m
		}
		return l.classifyUser(m), m
	case "system":
		if string(l.subtype) == "compact_boundary" {
			return classBoundary, message{}
		}
		if string(l.subtype) == "api_error" {
			return classOther, message{}
		}
		return classTail, message{}
	case "attachment":
		if string(jsontext.Raw(jsontext.Lookup(l.attachment, "type"))) == "queued_command" {
			return classQueued, message{}
		}
		return classTail, message{}
	}
	if tails[l.kind] {
		return classTail, message{}
	}
	return classOther, message{}
}

func (l line) classifyAnswer(m message) class {
	if l.apiError {
		return classAPIError
	}
	c := classThinking
	blocks(m.content, func(b block) {
		if b.kind != "thinking" && b.kind != "redacted_thinking" {
			c = classAnswer
		}
	})
	return c
}

func (l line) classifyUser(m message) class {
	if l.summary {
		return classSummary
	}
	c, first := classOther, []byte(nil)
	blocks(m.content, func(b block) {
		switch {
		case b.kind == "tool_result":
			c = classResult
		case b.kind == "text" && first == nil:
			first = jsontext.Raw(b.text)
		}
	})
	if c == classResult {
		return c
	}
	switch {
	case bytes.HasPrefix(first, []byte(interruptMark)):
		return classInterrupt
	case l.meta:
		return classMeta
	case hasAnyPrefix(first, localMarks):
		return classLocal
	case hasAnyPrefix(first, commandMarks):
		return classCommand
	}
	return classPrompt
}

const interruptMark = "[Request interrupted by user"

var (
	localMarks   = []string{"<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>", "<bash-input>", "<bash-stdout>", "<bash-stderr>", "<user-memory-input>"}
	commandMarks = []string{"<command-name>", "<command-message>"}
)

func hasAnyPrefix(b []byte, prefixes []string) bool {
	for _, p := range prefixes {
		if len(b) >= len(p) && string(b[:len(p)]) == p {
			return true
		}
	}
	return false
}

// words joins the text blocks of a message.
func words(m message) string {
	var parts []string
	blocks(m.content, func(b block) {
		if b.kind == "text" {
			parts = append(parts, jsontext.Text(b.text))
		}
	})
	return strings.Join(parts, "\n")
}

// commandWords is a slash command as its user typed it.
func commandWords(s string) string {
	name := between(s, "<command-name>", "</command-name>")
	if name == "" {
		return s
	}
	if args := strings.TrimSpace(between(s, "<command-args>", "</command-args>")); args != "" {
		return name + " " + args
	}
	return name
}

func between(s, left, right string) string {
	_, s, ok := strings.Cut(s, left)
	if !ok {
		return ""
	}
	s, _, ok = strings.Cut(s, right)
	if !ok {
		return ""
	}
	return s
}
