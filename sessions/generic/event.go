package generic

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// kindOf is what an event's name means.
func kindOf(name string) (sessions.Kind, bool) {
	switch name {
	case "session-start":
		return sessions.KindSessionStart, true
	case "prompt":
		return sessions.KindPrompt, true
	case "tool-before":
		return sessions.KindToolBefore, true
	case "tool-after":
		return sessions.KindToolAfter, true
	case "permission":
		return sessions.KindPermission, true
	case "answered":
		return sessions.KindAnswered, true
	case "idle":
		return sessions.KindStop, true
	case "error":
		return sessions.KindError, true
	case "session-end":
		return sessions.KindSessionEnd, true
	}
	return sessions.KindOther, false
}

// Event reads the payload that docs/agents/generic.md describes. Its author is to hear of
// what is wrong with it: an event's name that is not known is an error too.
func (Adapter) Event(_ sessions.Environ, name string, payload []byte) (sessions.Event, error) {
	f, err := hooks.Read(payload)
	if err != nil {
		return sessions.Event{}, err
	}
	tool := f.Within("tool")
	e := sessions.Event{
		Name: cmp.Or(f.Text("event"), name), SessionID: f.Text("session"), Transcript: f.Text("transcript"), Cwd: f.Text("cwd"),
		Source: f.Text("source"), Prompt: f.Text("prompt"), PromptID: f.Text("prompt_id"),
		Headless: f.Is("headless"), PID: int(f.Count("pid")), Program: f.Text("agent"), Resume: list(f["resume"]),
		Usage: sessions.Usage{Input: f.Within("usage").Count("input_tokens"), Output: f.Within("usage").Count("output_tokens"), Cost: amount(f.Within("usage")["cost_usd"])},
	}
	if err := check(&e, f); err != nil {
		return sessions.Event{}, err
	}
	switch e.Kind {
	case sessions.KindError:
		e.Message = cmp.Or(sessions.Brief(f.Text("message")), "the agent has not said what went wrong")
	case sessions.KindToolBefore, sessions.KindToolAfter, sessions.KindPermission, sessions.KindAnswered:
		e.Tool = sessions.Tool{ID: tool.Text("id"), Name: tool.Text("name"), Target: tool.Text("target"), Done: e.Kind == sessions.KindToolAfter}
	}
	if e.Kind == sessions.KindToolBefore {
		e.Tool.Name = cmp.Or(e.Tool.Name, "tool")
		e.Files = list(tool["files"])
		e.Writes = string(tool["writes"]) != "false"
	}
	return e, nil
}

// mostName bounds the ids and names that a tool gives, in bytes.
const mostName = 200

// mostResume bounds the command that a tool names, in bytes: it is in each record.
const mostResume = 4096

func check(e *sessions.Event, f hooks.Fields) (err error) {
	var known bool
	if e.Kind, known = kindOf(e.Name); !known {
		return fmt.Errorf("%w: unknown event %.40q; the events are session-start, prompt, tool-before, tool-after, permission, answered, idle, error and session-end", sessions.ErrBadPayload, e.Name)
	}
	switch {
	case !isName(e.SessionID):
		return fmt.Errorf(`%w: "session" is %.40q; it must be a name for the conversation, of letters, digits and . _ : @ + -`, sessions.ErrBadPayload, e.SessionID)
	case e.Program != "" && !isName(e.Program):
		return fmt.Errorf(`%w: "agent" is %.40q; it must be the tool's name, of letters, digits and . _ : @ + -`, sessions.ErrBadPayload, e.Program)
	case f["resume"] != nil && string(f["resume"]) != "null" && (len(e.Resume) == 0 || e.Resume[0] == "" || len(f["resume"]) > mostResume):
		return fmt.Errorf(`%w: "resume" is not a command as a list of words, of %d bytes at most`, sessions.ErrBadPayload, mostResume)
	case e.Source != "" && e.Source != "startup" && e.Source != "resume" && e.Source != "clear":
		return fmt.Errorf(`%w: "source" is %.40q; it must be startup, resume or clear`, sessions.ErrBadPayload, e.Source)
	}
	e.Transcript = clean(e.Transcript)
	return hooks.CheckPaths(*e)
}

func clean(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Clean(path)
}

// isName reports whether s can be the name of a directory, as the id of a session
// may be, and harmless to show.
func isName(s string) bool {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._:@+-", r)
	}
	return s != "" && len(s) <= mostName && strings.Trim(s, ".") != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0
}

// list reads an array of strings; nil for anything else.
func list(value []byte) []string {
	var words []string
	c := jsontext.Walk(value)
	for word := range c.Elements() {
		if len(word) == 0 || word[0] != '"' {
			return nil
		}
		words = append(words, jsontext.Text(word))
	}
	if !c.Whole() {
		return nil
	}
	return words
}

// mostCost bounds what one report can add, so that no slip fills the sums.
const mostCost = 1e6

// amount is a number of dollars from 0 on; 0 for anything else.
func amount(value []byte) float64 {
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || !(n > 0 && n < mostCost) {
		return 0
	}
	return n
}

// Reply implements sessions.Adapter.
func (Adapter) Reply(e sessions.Event, a sessions.Answer) []byte { return hooks.Plain(e, a) }
