package opencode

import (
	"strconv"
	"time"

	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// The types of line that the plugin writes. A value that is written again
// replaces the one with its id.
const (
	typeSession = "session"
	typeMessage = "message"
	typePart    = "part"
	typeRemoved = "removed" // of the message or part with that id
	typeIdle    = "idle"    // the agent waits for its user
)

// line is one line of a session's file, with its values left encoded and
// pointing into the line.
type line struct {
	kind    string
	session string
	id      string // of what was removed
	value   []byte
}

// parseLine reports false for a line that is no JSON object.
func parseLine(b []byte) (line, bool) {
	var l line
	c := jsontext.Walk(b)
	for key, value := range c.Members() {
		switch string(key) {
		case "type":
			l.kind = jsontext.Text(value)
		case "session":
			l.session = jsontext.Text(value)
		case "id":
			l.id = jsontext.Text(value)
		case "value":
			l.value = value
		}
	}
	return l, c.Whole()
}

// message is what a message's value says of itself.
type message struct {
	id, parent string
	role       string
	created    time.Time
	completed  time.Time
	finish     string
	failed     string // the error's name
	said       string // the error's message
	tokens     []byte
}

func parseMessage(b []byte) message {
	var m message
	c := jsontext.Walk(b)
	for key, value := range c.Members() {
		switch string(key) {
		case "id":
			m.id = jsontext.Text(value)
		case "parentID":
			m.parent = jsontext.Text(value)
		case "role":
			m.role = jsontext.Text(value)
		case "time":
			m.created, m.completed = instant(jsontext.Lookup(value, "created")), instant(jsontext.Lookup(value, "completed"))
		case "finish":
			m.finish = jsontext.Text(value)
		case "error":
			m.failed = jsontext.Text(jsontext.Lookup(value, "name"))
			m.said = jsontext.Text(jsontext.Lookup(jsontext.Lookup(value, "data"), "message"))
		case "tokens":
			m.tokens = value
		}
	}
	return m
}

// aborted is the error of an answer that its user stopped.
const aborted = "MessageAbortedError"

// ended reports whether an answer is whole: nothing of it comes any more.
func (m message) ended() bool { return !m.completed.IsZero() }

// part is what a part's value says.
type part struct {
	id, message string
	kind        string
	text        string
	synthetic   bool // the client's words
	at          time.Time
	tool        []byte
	call        string
	state       []byte
	tail        string // of a compaction: the message from which on all is kept
}

func parsePart(b []byte) part {
	var p part
	c := jsontext.Walk(b)
	for key, value := range c.Members() {
		switch string(key) {
		case "id":
			p.id = jsontext.Text(value)
		case "messageID":
			p.message = jsontext.Text(value)
		case "type":
			p.kind = jsontext.Text(value)
		case "text":
			p.text = jsontext.Text(value)
		case "prompt": // of a subtask
			p.text = jsontext.Text(value)
		case "synthetic":
			p.synthetic = jsontext.IsTrue(value)
		case "time":
			p.at = instant(jsontext.Lookup(value, "start"))
		case "tool":
			p.tool = value
		case "callID":
			p.call = jsontext.Text(value)
		case "state":
			p.state = value
		case "tail_start_id":
			p.tail = jsontext.Text(value)
		}
	}
	return p
}

// status is how far a tool call is: running, completed or error.
func (p part) status() string { return jsontext.Text(jsontext.Lookup(p.state, "status")) }

func (p part) open() bool {
	s := p.status()
	return p.kind == "tool" && s != "completed" && s != "error"
}

// condenses reports whether a part says how what was said before is sent to the model
// from now on. OpenCode writes it after the answer that it is about: which messages a
// summary does not stand for, and which results of calls are left out.
func (p part) condenses() bool {
	return p.kind == "compaction" && p.tail != "" || p.kind == "tool" && !instant(jsontext.Lookup(jsontext.Lookup(p.state, "time"), "compacted")).IsZero()
}

// instant is a time in milliseconds.
func instant(value []byte) time.Time {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}
