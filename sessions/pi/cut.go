package pi

import (
	"io"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
)

// Cut finds the end of the last exchange that the agent can go on from.
func (Adapter) Cut(r io.Reader) (sessions.Cut, error) { return jsonlines.Cut(r, newCutter()) }

// CutAfter implements sessions.Addressed: a message is a line, and its id the line's.
func (Adapter) CutAfter(r io.Reader, message string) (sessions.Cut, int64, error) {
	return jsonlines.CutAfter(r, newCutter(), func(b []byte) jsonlines.Part {
		l, _ := parseLine(b)
		return jsonlines.PartOf(message, l.id)
	})
}

func newCutter() *jsonlines.TreeCutter {
	return &jsonlines.TreeCutter{Read: func(b []byte) (id, parent string, after func(jsonlines.Standing) jsonlines.Standing, ok bool) {
		l, ok := parseLine(b)
		return l.id, l.parent, l.standing, ok && l.kind != typeSession
	}}
}

// standing is how the conversation stands after a line.
func (l line) standing(s jsonlines.Standing) jsonlines.Standing {
	if l.kind != typeMessage {
		return s
	}
	switch m := parseMessage(l.message); m.role {
	case "user":
		return s.Prompt()
	case "assistant":
		if m.stop == stopAborted || m.stop == stopError {
			return s.Answer(nil)
		}
		return s.Answer(m.calls)
	case "toolResult":
		return s.Results(m.call)
	}
	return s
}
