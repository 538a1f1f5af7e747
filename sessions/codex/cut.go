package codex

import (
	"io"
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Cut finds the end of the last exchange that the agent can go on from. What
// Codex has forked itself can go on from its first line: everything before is in
// the rollout that this line names.
//
// It reads once, and holds the open tool calls and one line.
func (Adapter) Cut(r io.Reader) (sessions.Cut, error) {
	c, err := cutThrough(r, 0)
	if err != nil {
		return sessions.Cut{}, err
	}
	if c.length == 0 {
		return c.cut(), sessions.ErrEmptyCut
	}
	return c.cut(), nil
}

// CutEnd implements sessions.Adapter. What the lines before a prompt have left
// undone is given up by it, and an answer after it is where the conversation can
// go on from: so a cut after these is the same whatever was before.
func (Adapter) CutEnd(r io.Reader, from int64) (sessions.Cut, bool, error) {
	c, err := cutThrough(r, from)
	if err != nil || c.certain == 0 || c.length <= c.certain {
		return sessions.Cut{}, false, err
	}
	return c.cut(), true, nil
}

// cutThrough reads a conversation to its end, from an offset on.
func cutThrough(r io.Reader, from int64) (*cutter, error) {
	c := &cutter{open: map[string]sessions.Tool{}}
	split := jsonlines.Splitter{Line: c.line, Offset: from}
	return c, split.Drain(r)
}

type cutter struct {
	length  int64 // bytes up to the last good end
	certain int64 // where the first prompt ends, before which nothing matters; 0 if there was none
	kept    int   // lines up to there
	events  int
	open    map[string]sessions.Tool
	order   []string // open ids, as they came
	waiting bool     // a prompt has no answer yet
	said    bool     // the agent has said or done something since
	tail    bool     // nothing but housekeeping since the good end
}

func (c *cutter) cut() sessions.Cut {
	return sessions.Cut{Length: c.length, Events: c.kept, Dropped: c.events - c.kept, Open: c.dropped()}
}

func (c *cutter) line(b []byte, start int64) error {
	c.events++
	end := start + int64(len(b)) + 1
	l, ok := parseLine(b)
	if !ok {
		c.tail = false
		return nil
	}
	kind := l.classify()
	switch good, extends := c.step(l, kind, start); {
	case good:
		c.length, c.kept, c.tail = end, c.events, true
	case extends && c.tail:
		c.length, c.kept = end, c.events
	default:
		c.tail = false
	}
	if kind == classPrompt && c.certain == 0 {
		c.certain = end
	}
	return nil
}

// step reports whether the conversation can go on from after this line, and
// else whether the line may follow such a point without belonging to what comes.
func (c *cutter) step(l line, kind class, start int64) (good, extends bool) {
	switch kind {
	case classMeta:
		return start == 0 && ancestor(l) != "", false
	case classPrompt:
		c.clear()
		c.waiting, c.said = true, false
	case classAnswer:
		c.waiting, c.said = false, true
		return c.settled(), false
	case classCall:
		c.waiting, c.said = false, true
		if !l.answers() {
			return c.settled(), false
		}
		tool := l.tool()
		c.open[tool.ID] = tool
		c.order = append(c.order, tool.ID)
	case classResult:
		delete(c.open, l.text("call_id"))
		return c.settled(), false
	case classAborted, classFailed:
		c.waiting = !c.said // a prompt that came to nothing is dropped
		return c.settled() && c.said, false
	case classItem, classUsage, classTail, classDone:
		return false, true
	case classCompact:
		return c.settled() && c.length > 0, false
	}
	return false, false
}

func (c *cutter) settled() bool { return len(c.open) == 0 && !c.waiting }

func (c *cutter) clear() {
	clear(c.open)
	c.order = c.order[:0]
}

func (c *cutter) dropped() []sessions.Tool {
	var tools []sessions.Tool
	for _, id := range c.order {
		if t, ok := c.open[id]; ok && !slices.ContainsFunc(tools, func(o sessions.Tool) bool { return o.ID == id }) {
			tools = append(tools, t)
		}
	}
	return tools
}

// ancestor is the session that a first line says the conversation before it is
// in, "" if it begins here.
func ancestor(l line) string {
	if id := jsontext.Text(jsontext.Lookup(l.get("history_base"), "thread_id")); sessions.IsUUID(id) {
		return id
	}
	return ""
}
