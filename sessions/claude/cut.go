package claude

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Cut finds the end of the last exchange that the agent can go on from. It goes
// by the order of lines, never by their parent chain: parallel tool calls make
// that a tree, and the chain from the last leaf loses calls and results.
//
// It reads once, and holds the open tool calls and one line.
func (Adapter) Cut(r io.Reader) (sessions.Cut, error) {
	return jsonlines.Cut(r, &cutter{})
}

// CutEnd implements sessions.Adapter. What the lines before a prompt have left
// undone is given up by it, and an answer after it is where the conversation can
// go on from: so a cut after these is the same whatever was before. Only the ids
// that are remembered must be known.
func (Adapter) CutEnd(r io.Reader, from int64) (sessions.Cut, bool, error) {
	return jsonlines.CutEnd(r, from, &cutter{})
}

// Cut implements jsonlines.Cutter.
func (c *cutter) Cut() (cut sessions.Cut, certain int64) {
	return sessions.Cut{Length: c.length, Events: c.kept, Dropped: c.events - c.kept, Open: c.open.Tools()}, c.certain
}

// recent is how many line ids are remembered, to tell a last-prompt line that
// names a line written already from one that runs ahead of the line it names.
const recent = 64

type cutter struct {
	length  int64 // bytes up to the last good end
	certain int64 // where a prompt ends after which nothing before it matters, 0 if there was none
	kept    int   // lines up to there
	events  int
	open    sessions.Calls
	openOf  string // message id of the last calls
	waiting bool   // a prompt has no answer yet
	tail    bool   // nothing but housekeeping since the good end
	command bool   // a slash command that may be local
	prompt  string // the last prompt, for its last-prompt lines
	last    []byte // id of the last line that has one
	ids     [recent][]byte
	next    int
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
	kind, m := l.classify()
	if kind == classPrompt && c.certain == 0 && c.next > recent {
		c.certain = end
	}
	switch good, extends := c.step(l, kind, m); {
	case good:
		c.length, c.kept, c.tail = end, c.events, true
	case extends && c.tail:
		c.length, c.kept = end, c.events
	default:
		c.tail = false
	}
	c.remember(l.uuid)
	return nil
}

// step reports whether the conversation can go on from after this line, and
// else whether the line may follow such a point without belonging to what comes.
func (c *cutter) step(l line, kind class, m message) (good, extends bool) {
	switch kind {
	case classPrompt:
		c.open.GiveUp()
		c.openOf, c.waiting, c.command, c.prompt = "", true, false, words(m)
	case classQueued:
		c.waiting = true
	case classCommand:
		c.command = true
	case classLocal:
		c.command = false
		return c.settled() && c.length > 0, false
	case classMeta:
		if c.command {
			c.command, c.waiting = false, true
			return false, false
		}
		return false, true
	case classAnswer:
		c.command, c.waiting = false, false
		c.calls(l, m)
		return c.settled(), false
	case classAPIError, classInterrupt:
		c.command, c.waiting = false, false
		return c.settled(), false
	case classResult:
		blocks(m.content, func(b block) { c.open.End(b.id) })
		return c.settled(), false
	case classSummary:
		return c.settled(), false
	case classTail:
		return false, l.kind != "attachment" || bytes.Equal(l.parent, c.last)
	case classOther:
		return false, l.kind == "last-prompt" && c.isPast(l)
	}
	return false, false
}

func (c *cutter) settled() bool { return c.open.Len() == 0 && !c.waiting }

// calls notes the tool calls of an answer. Another API message after open calls
// means that the client gave those up.
func (c *cutter) calls(l line, m message) {
	if id := string(m.id); id != "" && id != c.openOf {
		c.open.GiveUp()
		c.openOf = id
	}
	blocks(m.content, func(b block) {
		if b.kind == "tool_use" {
			c.open.Begin(toolOf(l, b))
		}
	})
}

func (c *cutter) remember(uuid []byte) {
	if len(uuid) == 0 {
		return
	}
	slot := &c.ids[c.next%recent]
	*slot = append((*slot)[:0], uuid...)
	c.last = *slot
	c.next++
}

// isPast reports whether a last-prompt line speaks of the prompt already
// answered: it names a line already written and the same words.
func (c *cutter) isPast(l line) bool {
	if l.explicit || !slices.ContainsFunc(c.ids[:], func(id []byte) bool { return len(id) > 0 && bytes.Equal(id, l.leaf) }) {
		return false
	}
	said := strings.Join(strings.Fields(strings.TrimSuffix(jsontext.Text(l.lastPrompt), "…")), " ")
	return strings.HasPrefix(strings.Join(strings.Fields(c.prompt), " "), said)
}
