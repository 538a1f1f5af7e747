package pi

import (
	"strconv"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// The types of line that matter here. All but the first line have an id, and the id of the
// line that they go on from: the conversation is what leads to the last line.
const (
	typeSession    = "session"
	typeMessage    = "message"
	typeCompaction = "compaction"
)

// line is one line of a session's file; what is not read here stays encoded.
type line struct {
	kind    string
	id      string
	parent  string // "" for none
	at      time.Time
	cwd     string // of the first line
	message []byte
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
		case "parentId":
			l.parent = jsontext.Text(value)
		case "timestamp":
			l.at = jsontext.Time(jsontext.Raw(value))
		case "cwd":
			l.cwd = jsontext.Text(value)
		case "message":
			l.message = value
		}
	}
	return l, c.Whole()
}

// message is what a message says.
type message struct {
	role    string
	text    string
	calls   []sessions.Tool // of an answer
	call    string          // whose result it is
	failed  bool            // the call
	stop    string          // why an answer ends
	refused string          // what the model's service said
	at      time.Time
	tokens  *sessions.Tokens
	cost    float64
}

// The reasons for which an answer ends that matter here.
const (
	stopTools   = "toolUse"
	stopError   = "error"
	stopAborted = "aborted"
)

func parseMessage(b []byte) message {
	var m message
	c := jsontext.Walk(b)
	for key, value := range c.Members() {
		switch string(key) {
		case "role":
			m.role = jsontext.Text(value)
		case "content":
			m.content(value)
		case "toolCallId":
			m.call = jsontext.Text(value)
		case "isError":
			m.failed = jsontext.IsTrue(value)
		case "stopReason":
			m.stop = jsontext.Text(value)
		case "errorMessage":
			m.refused = jsontext.Text(value)
		case "timestamp":
			m.at = instant(number(value))
		case "usage":
			m.usage(value)
		}
	}
	return m
}

// content is a text, or a list of blocks.
func (m *message) content(value []byte) {
	if len(value) > 0 && value[0] == '"' {
		m.text = jsontext.Text(value)
		return
	}
	var texts []string
	list := jsontext.Walk(value)
	for block := range list.Elements() {
		switch jsontext.Text(jsontext.Lookup(block, "type")) {
		case "text":
			texts = append(texts, jsontext.Text(jsontext.Lookup(block, "text")))
		case "toolCall":
			m.calls = append(m.calls, callOf(block))
		}
	}
	m.text = strings.Join(texts, "\n")
}

func (m *message) usage(value []byte) {
	m.tokens = &sessions.Tokens{
		Input:  number(jsontext.Lookup(value, "input")) + number(jsontext.Lookup(value, "cacheRead")) + number(jsontext.Lookup(value, "cacheWrite")),
		Output: number(jsontext.Lookup(value, "output")),
	}
	m.cost, _ = strconv.ParseFloat(string(jsontext.Lookup(jsontext.Lookup(value, "cost"), "total")), 64)
}

func number(value []byte) int64 {
	n, _ := strconv.ParseInt(string(value), 10, 64)
	return n
}
