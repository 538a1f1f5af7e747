package opencode

import (
	"io"
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
)

// Cut finds the end of the last answer that the agent can go on from. It reads
// once, and holds the ids of the prompts and the open tool calls.
func (Adapter) Cut(r io.Reader) (sessions.Cut, error) {
	return jsonlines.Cut(r, newCutter())
}

func newCutter() *cutter { return &cutter{prompts: map[string]bool{}} }

// Cut implements jsonlines.Cutter. What came before may matter wherever it is cut.
func (c *cutter) Cut() (cut sessions.Cut, certain int64) {
	cut = sessions.Cut{Length: c.length, Events: c.kept, Dropped: c.events - c.kept}
	for _, call := range c.open {
		cut.Open = append(cut.Open, call.tool)
	}
	return cut, 0
}

// CutAfter implements sessions.Addressed. What earlier messages say may be written anew
// while a message is.
func (Adapter) CutAfter(r io.Reader, id string) (sessions.Cut, int64, error) {
	known := map[string]bool{}
	return jsonlines.CutAfter(r, newCutter(), func(b []byte) jsonlines.Part {
		l, _ := parseLine(b)
		of := ""
		switch l.kind {
		case typeMessage:
			of = parseMessage(l.value).id
		case typePart:
			of = parsePart(l.value).message
		}
		if of != id && known[of] {
			return jsonlines.Beside
		}
		known[of] = true
		return jsonlines.PartOf(id, of)
	})
}

type cutter struct {
	length  int64 // bytes up to the last good end
	kept    int   // lines up to there
	events  int
	prompts map[string]bool
	waiting string // the prompt that has no answer yet
	open    []openCall
	tail    bool // nothing but housekeeping since the good end
}

type openCall struct {
	part, message string
	tool          sessions.Tool
}

// Line implements jsonlines.Cutter.
func (c *cutter) Line(b []byte, start int64) error {
	c.events++
	end := start + int64(len(b)) + 1
	l, ok := parseLine(b)
	switch good, extends := c.step(l); {
	case ok && good:
		c.length, c.kept, c.tail = end, c.events, true
	case ok && extends && c.tail:
		c.length, c.kept = end, c.events
	default:
		c.tail = false
	}
	return nil
}

// step reports whether the conversation can go on from after this line, and
// else whether the line may follow such a point without belonging to what comes.
func (c *cutter) step(l line) (good, extends bool) {
	switch l.kind {
	case typeSession, typeIdle:
		return false, true
	case typeRemoved:
		c.forget(l.id)
		return false, true
	case typePart:
		p := parsePart(l.value)
		c.part(p)
		return false, p.condenses()
	case typeMessage:
		m := parseMessage(l.value)
		if m.role != "assistant" {
			known := c.prompts[m.id]
			if !known {
				c.prompts[m.id], c.waiting = true, m.id
			}
			return false, known
		}
		if !m.ended() {
			return false, false
		}
		if m.parent == c.waiting || m.parent == "" {
			c.waiting = ""
		}
		c.open = slices.DeleteFunc(c.open, func(o openCall) bool { return o.message == m.id && m.failed != "" })
		return len(c.open) == 0 && c.waiting == "", false
	}
	return false, false
}

func (c *cutter) part(p part) {
	at := slices.IndexFunc(c.open, func(o openCall) bool { return o.part == p.id })
	switch {
	case p.open() && at < 0:
		c.open = append(c.open, openCall{p.id, p.message, toolOf(p, instant(nil))})
	case !p.open() && at >= 0:
		c.open = slices.Delete(c.open, at, at+1)
	}
}

// forget drops what was removed.
func (c *cutter) forget(id string) {
	delete(c.prompts, id)
	if c.waiting == id {
		c.waiting = ""
	}
	c.open = slices.DeleteFunc(c.open, func(o openCall) bool { return o.part == id || o.message == id })
}
