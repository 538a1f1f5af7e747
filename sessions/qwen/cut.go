package qwen

import (
	"io"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
)

// Cut finds the end of the last exchange that the agent can go on from. It reads once, and
// holds of each line what it goes on from and the calls that are open there.
func (Adapter) Cut(r io.Reader) (sessions.Cut, error) { return jsonlines.Cut(r, &cutter{}) }

type cutter struct {
	tree   jsonlines.Tree[standing]
	length int64 // bytes up to the last good end
	kept   int   // lines up to there
	events int
}

// standing is how a conversation stands after a line.
type standing struct {
	open     []sessions.Tool // calls without their results
	waiting  bool            // a prompt has no answer
	answered bool            // there is an answer at all
}

func (s standing) isGood() bool { return s.answered && !s.waiting && len(s.open) == 0 }

// Line implements jsonlines.Cutter.
func (c *cutter) Line(b []byte, start int64) error {
	c.events++
	l, ok := parseLine(b)
	if !ok {
		return nil
	}
	above, _ := c.tree.Below(l.parent)
	var s standing
	if above != nil {
		s = above.Value
	}
	s = s.after(l)
	c.tree.Add(l.id, above, s)
	if s.isGood() {
		c.length, c.kept = start+int64(len(b))+1, c.events
	}
	return nil
}

// Cut implements jsonlines.Cutter. What came before may matter wherever it is cut.
func (c *cutter) Cut() (cut sessions.Cut, certain int64) {
	cut = sessions.Cut{Length: c.length, Events: c.kept, Dropped: c.events - c.kept}
	if leaf := c.tree.Leaf(); leaf != nil && cut.Dropped > 0 {
		cut.Open = leaf.Value.open
	}
	return cut, 0
}

// after is how it stands after a line.
func (s standing) after(l line) standing {
	switch l.classify() {
	case classPrompt, classTyped, classRoused:
		s.waiting = true
	case classAnswer:
		s.waiting, s.answered, s.open = false, true, nil
		l.calls(func(t sessions.Tool) { s.open = append(s.open, t) })
	case classResult:
		var calls sessions.Calls
		for _, call := range s.open {
			calls.Begin(call)
		}
		l.results(func(e ended) { calls.End(e.id) })
		s.open = calls.Tools()
	case classSummary:
		s.answered = true
	}
	return s
}
