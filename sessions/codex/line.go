package codex

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// line is one line of a rollout, with its values left encoded and pointing into
// the line.
type line struct {
	kind    string // top-level "type"
	time    []byte
	ordinal int64 // its number in the rollout, -1 if it has none
	payload []byte
	begin   int    // where the payload stands in the line
	ptype   string // the payload's own "type"
}

// parseLine reports false for a line that is no JSON object.
func parseLine(b []byte) (line, bool) {
	l := line{ordinal: -1}
	c := jsontext.Walk(b)
	for key, value := range c.Members() {
		switch string(key) {
		case "ordinal":
			if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
				l.ordinal = n
			}
		case "type":
			l.kind = jsontext.Text(value)
		case "timestamp":
			l.time = jsontext.Raw(value)
		case "payload":
			l.payload, l.begin = value, c.Pos()-len(value)
		}
	}
	if l.kind == "response_item" || l.kind == "event_msg" {
		l.ptype = jsontext.Text(l.get("type"))
	}
	return l, c.Whole()
}

func (l line) get(key string) []byte { return jsontext.Lookup(l.payload, key) }

func (l line) text(key string) string { return jsontext.Text(l.get(key)) }

func (l line) at() time.Time { return jsontext.Time(l.time) }

// class is what a line means for the course of the conversation.
type class int

const (
	classOther    class = iota // says nothing of the conversation; may hold anything
	classMeta                  // the session's identity
	classStart                 // a turn begins
	classPrompt                // what the user typed
	classAnswer                // the agent's words
	classThinking              // the agent's thoughts alone: the call that follows needs them
	classCall                  // a tool call
	classResult                // a call's result
	classItem                  // what became of an item, for people
	classUsage                 // tokens
	classTail                  // housekeeping that may follow a finished answer
	classDone                  // the turn has ended
	classFailed                // … because the API refused
	classAborted               // … because the user stopped it
	classMessage               // of another agent of the team
	classCompact               // the conversation before is summed up
)

func (l line) classify() class {
	switch l.kind {
	case "session_meta":
		return classMeta
	case "compacted":
		return classCompact
	case "token_usage_record":
		return classUsage
	case "response_item":
		return l.classifyItem()
	case "event_msg":
		return l.classifyEvent()
	}
	return classOther
}

func (l line) classifyItem() class {
	switch {
	case l.ptype == "message":
		if l.text("role") == "assistant" {
			return classAnswer
		}
		return classOther // a prompt is told of by its own event; the rest is the client's
	case l.ptype == "agent_message":
		return classMessage
	case l.ptype == "reasoning":
		return classThinking
	case strings.HasSuffix(l.ptype, "_call_output"), l.ptype == "tool_search_output":
		return classResult
	case strings.HasSuffix(l.ptype, "_call"):
		return classCall
	}
	return classOther
}

func (l line) classifyEvent() class {
	switch l.ptype {
	case "task_started", "turn_started":
		return classStart
	case "user_message": // history_mode "legacy"
		return classPrompt
	case "item_completed":
		if jsontext.Text(jsontext.Lookup(l.get("item"), "type")) == "UserMessage" {
			return classPrompt
		}
		return classItem
	case "token_count":
		return classUsage
	case "task_complete", "turn_complete":
		if message := jsontext.Lookup(l.get("error"), "message"); len(message) > 0 {
			return classFailed
		}
		return classDone
	case "turn_aborted":
		return classAborted
	case "agent_message", "agent_reasoning", "exec_command_end", "patch_apply_end", "mcp_tool_call_end":
		return classTail
	}
	return classOther
}

// prompt is what the user typed.
func (l line) prompt() string {
	switch l.ptype {
	case "user_message":
		return l.text("message")
	case "agent_message":
		return content(l.get("content"))
	}
	return content(jsontext.Lookup(l.get("item"), "content"))
}

// content joins the text of a message's parts.
func content(parts []byte) string {
	if s := jsontext.Text(parts); s != "" {
		return s
	}
	var all []string
	c := jsontext.Walk(parts)
	for part := range c.Elements() {
		if s := jsontext.Text(jsontext.Lookup(part, "text")); s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, "\n")
}

// answers reports whether a call has its result in a line of its own.
func (l line) answers() bool { return len(l.get("call_id")) > 0 }

// tool is the call of a line.
func (l line) tool() sessions.Tool {
	t := sessions.Tool{ID: l.text("call_id"), Name: l.text("name"), At: l.at()}
	if t.Name == "" {
		t.Name = strings.TrimSuffix(l.ptype, "_call")
	}
	switch l.ptype {
	case "function_call":
		t.Whole = wholeTarget([]byte(l.text("arguments")))
	case "custom_tool_call":
		t.Target, t.Whole = targetOf(t.Name, l.text("input"))
		return t
	default:
		t.Whole = wholeTarget(l.get("action"))
	}
	t.Target = sessions.Brief(t.Whole)
	return t
}

// targets are the inputs that name what a tool acts on, the first found wins.
var targets = []string{"cmd", "command", "path", "file_path", "pattern", "url", "query", "prompt", "message"}

// target is the file or command a tool call acts on, or what it asks.
func target(input []byte) string { return sessions.Brief(wholeTarget(input)) }

func wholeTarget(input []byte) string {
	if s := cmp.Or(jsontext.First(input, targets...), hooks.Question(input)); s != "" {
		return s
	}
	// The shell of older versions takes a list of words.
	var words []string
	c := jsontext.Walk(jsontext.Lookup(input, "command"))
	for word := range c.Elements() {
		words = append(words, jsontext.Text(word))
	}
	return strings.Join(words, " ")
}

const toolPatch = "apply_patch"

// targetOf is the first file of a patch, or what else a tool was given as text; whole is
// all of its files, or all of the text.
func targetOf(name, input string) (target, whole string) {
	if name == toolPatch {
		if files := sessions.Patched(input); len(files) > 0 {
			return files[0], strings.Join(files, "\n")
		}
	}
	return sessions.Brief(input), input
}

// failed reports whether a result says that its call failed. Commands say it by
// what became of their item too.
func (l line) failed() bool {
	out := jsontext.Raw(l.get("output"))
	return bytes.HasPrefix(out, []byte("apply_patch verification failed"))
}

// item says whether the call with that id has failed, and with which exit code.
func (l line) item() (id string, failed bool, exit string) {
	item := l.get("item")
	switch jsontext.Text(jsontext.Lookup(item, "status")) {
	case "failed", "declined":
		failed = true
	}
	return jsontext.Text(jsontext.Lookup(item, "id")), failed, sessions.ExitCode(jsontext.Lookup(item, "exit_code"), "")
}
