package qwen

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
		return l.id, l.parent, l.standing, ok
	}}
}

// standing is how the conversation stands after a line.
func (l line) standing(s jsonlines.Standing) jsonlines.Standing {
	switch l.classify() {
	case classPrompt, classTyped, classRoused:
		return s.Prompt()
	case classAnswer:
		var calls []sessions.Tool
		l.calls(func(t sessions.Tool) { calls = append(calls, t) })
		return s.Answer(calls)
	case classResult:
		var ids []string
		l.results(func(e ended) { ids = append(ids, e.id) })
		return s.Results(ids...)
	case classSummary:
		s.Answered = true
	}
	return s
}
