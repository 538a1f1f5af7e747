package codex

import (
	"io"

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
	return jsonlines.Cut(r, &cutter{})
}

// CutEnd implements sessions.Adapter. What the lines before a prompt have left
// undone is given up by it, and an answer after it is where the conversation can
// go on from: so a cut after these is the same whatever was before.
func (Adapter) CutEnd(r io.Reader, from int64) (sessions.Cut, bool, error) {
	return jsonlines.CutEnd(r, from, &cutter{})
}

// CutAfter implements sessions.Addressed: a message is an item of the model's, or what the
// user typed, as it is told to people.
func (Adapter) CutAfter(r io.Reader, message string) (sessions.Cut, int64, error) {
	return jsonlines.CutAfter(r, &cutter{}, func(b []byte) jsonlines.Part {
		l, _ := parseLine(b)
		switch {
		case l.kind == "response_item":
			return jsonlines.PartOf(message, l.text("id"))
		case l.classify() == classPrompt:
			return jsonlines.PartOf(message, jsontext.Text(jsontext.Lookup(l.get("item"), "id")))
		}
		return jsonlines.Beside
	})
}

type cutter struct {
	length  int64 // bytes up to the last good end
	certain int64 // where the first prompt ends, before which nothing matters; 0 if there was none
	kept    int   // lines up to there
	events  int
	open    sessions.Calls
	waiting bool // a prompt has no answer yet
	said    bool // the agent has said or done something since
	tail    bool // nothing but housekeeping since the good end
}

// Cut implements jsonlines.Cutter.
func (c *cutter) Cut() (cut sessions.Cut, certain int64) {
	return sessions.Cut{Length: c.length, Events: c.kept, Dropped: c.events - c.kept, Open: c.open.Tools()}, c.certain
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
		c.open.GiveUp()
		c.waiting, c.said = true, false
	case classAnswer:
		c.waiting, c.said = false, true
		return c.settled(), false
	case classCall:
		c.waiting, c.said = false, true
		if !l.answers() {
			return c.settled(), false
		}
		c.open.Begin(l.tool())
	case classResult:
		c.open.End(l.text("call_id"))
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

func (c *cutter) settled() bool { return c.open.Len() == 0 && !c.waiting }

// ancestor is the rollout that a first line says the conversation before it is
// in, "" if it begins here.
func ancestor(l line) string {
	if id := jsontext.Text(jsontext.Lookup(l.get("history_base"), "thread_id")); sessions.IsUUID(id) {
		return id
	}
	return ""
}
