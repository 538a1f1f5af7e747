package copilot

import (
	"io"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
)

// Cut finds the end of the last exchange that the agent can go on from.
func (Adapter) Cut(r io.Reader) (sessions.Cut, error) { return jsonlines.Cut(r, &cutter{}) }

// CutAfter implements sessions.Addressed: a message is a line, and its id the line's.
func (Adapter) CutAfter(r io.Reader, message string) (sessions.Cut, int64, error) {
	return jsonlines.CutAfter(r, &cutter{}, func(b []byte) jsonlines.Part {
		l, _ := parseLine(b)
		return jsonlines.PartOf(message, l.id)
	})
}

type cutter struct {
	open      sessions.Calls
	answered  bool // there is an answer at all
	waiting   bool // a prompt has no answer
	announced bool // a hook was told of a prompt that is still to come
	length    int64
	kept      int
	events    int
}

// Line implements jsonlines.Cutter.
func (c *cutter) Line(b []byte, start int64) error {
	c.events++
	l, ok := parseLine(b)
	if ok {
		c.take(l)
	}
	if ok && c.answered && !c.waiting && !c.announced && c.open.Len() == 0 {
		c.length, c.kept = start+int64(len(b))+1, c.events
	}
	return nil
}

// take is how it stands after a line. What a subagent says is within the call that began
// it, unless that has let it go on in the background.
func (c *cutter) take(l line) {
	if l.agent != "" {
		return
	}
	switch l.kind {
	case typePrompt:
		if l.prompting() != byItself {
			c.waiting = true
			c.open.GiveUp()
		}
		c.announced = false
	case typeAnswer:
		calls := l.calls()
		if len(calls) == 0 && l.text("content") == "" {
			return
		}
		c.answered, c.waiting, c.announced = true, false, false
		for _, call := range calls {
			c.open.Begin(call)
		}
	case typeResult:
		c.open.End(l.text("toolCallId"))
	case typeAbort, typeError:
		c.open.GiveUp()
	default:
		c.announced = c.announced || l.announces()
	}
}

// Cut implements jsonlines.Cutter. What came before may matter wherever it is cut.
func (c *cutter) Cut() (cut sessions.Cut, certain int64) {
	cut = sessions.Cut{Length: c.length, Events: c.kept, Dropped: c.events - c.kept}
	if cut.Dropped > 0 {
		cut.Open = c.open.Tools()
	}
	return cut, 0
}
