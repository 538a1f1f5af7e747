package gemini

import (
	"cmp"
	"io"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
)

// Cut finds the end of the last exchange that the agent can go on from. It reads
// once, and holds what the conversation is made of, but not its text.
func (Adapter) Cut(r io.Reader) (sessions.Cut, error) {
	return jsonlines.Cut(r, &cutter{})
}

// CutEnd implements sessions.Adapter. After a prompt that is followed by an
// answer the cut is the same whatever was before; where that is taken back, it
// is not told.
func (Adapter) CutEnd(r io.Reader, from int64) (sessions.Cut, bool, error) {
	return jsonlines.CutEnd(r, from, &cutter{})
}

// CutAfter implements sessions.Addressed. A message of which the client has written a
// list of all messages alone has no end of its own, unless it is the last of them.
func (Adapter) CutAfter(r io.Reader, id string) (sessions.Cut, int64, error) {
	return jsonlines.CutAfter(r, &cutter{}, func(b []byte) jsonlines.Part {
		l, _ := parseLine(b)
		switch {
		case l.rewind != nil:
			return jsonlines.Next
		case l.replaces():
			last := ""
			messages(l.list, func(m message) { last = string(m.id) })
			return jsonlines.PartOf(id, cmp.Or(last, "none"))
		}
		return jsonlines.PartOf(id, string(l.message.id))
	})
}

type cutter struct {
	thread  thread
	length  int64 // bytes up to the last good end
	certain int64 // where a prompt ends after which nothing before it matters, 0 if there was none
	kept    int   // lines up to length
	events  int
	tail    bool // nothing but patches since the good end
	retold  bool // the client tells the whole conversation again, and has not ended that
}

// Cut implements jsonlines.Cutter.
func (c *cutter) Cut() (cut sessions.Cut, certain int64) {
	cut = sessions.Cut{Length: c.length, Events: c.kept, Dropped: c.events - c.kept}
	if c.kept < c.events {
		_, cut.Open = c.thread.tail()
	}
	return cut, c.certain
}

// Line implements jsonlines.Cutter.
func (c *cutter) Line(b []byte, start int64) error {
	c.events++
	end := start + int64(len(b)) + 1
	l, ok := parseLine(b)
	if !ok {
		c.tail = false
		return nil
	}
	switch changed := c.step(l, end); {
	case changed && c.thread.settled() && !c.retold, !changed && c.tail:
		c.length, c.kept, c.tail = end, c.events, true
	case changed:
		c.tail = false
	}
	return nil
}

// step carries out a line, and reports whether it has changed the conversation.
func (c *cutter) step(l line, end int64) (changed bool) {
	switch {
	case l.rewind != nil:
		c.rewind(string(l.rewind))
	case l.message.id != nil:
		fresh := c.thread.put(l.message)
		c.retold = c.retold || fresh && len(c.thread.entries) > 1 && l.message.retells()
		if fresh && c.certain == 0 && len(c.thread.entries) > 1 && l.message.classify() == classPrompt {
			c.certain = end
		}
	case l.replaces():
		c.retold = false
		c.thread.clear()
		messages(l.list, func(m message) { c.thread.put(m) })
		if c.certain == 0 {
			c.certain = end
		}
	default:
		c.retold = c.retold && len(l.hash) == 0
		return false
	}
	return true
}

// rewind takes messages back. A conversation of which nothing is left begins
// anew: its user has asked for that.
func (c *cutter) rewind(id string) {
	c.thread.rewind(id)
	if last, _ := c.thread.tail(); last.class == classOther {
		c.length, c.kept = 0, 0
	}
}
