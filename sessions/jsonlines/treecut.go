package jsonlines

import "github.com/umbra-vcs/umbra/sessions"

// Standing is how a conversation stands after a line.
type Standing struct {
	Open     []sessions.Tool // calls without their results
	Waiting  bool            // a prompt has no answer
	Answered bool            // there is an answer at all
}

func (s Standing) isGood() bool { return s.Answered && !s.Waiting && len(s.Open) == 0 }

// Prompt is how it stands after a prompt.
func (s Standing) Prompt() Standing {
	s.Waiting = true
	return s
}

// Answer is how it stands after an answer that asks for calls.
func (s Standing) Answer(calls []sessions.Tool) Standing {
	return Standing{Open: calls, Answered: true}
}

// Results is how it stands after the results of calls.
func (s Standing) Results(ids ...string) Standing {
	var calls sessions.Calls
	for _, call := range s.Open {
		calls.Begin(call)
	}
	for _, id := range ids {
		calls.End(id)
	}
	s.Open = calls.Tools()
	return s
}

// TreeCutter is the Cutter of a file whose lines are a Tree. It reads once, and holds of each
// line what it goes on from and the calls that are open there.
type TreeCutter struct {
	// Read reads a line: its id, that of the line that it goes on from, and how the
	// conversation stands after it; false if it is none of the tree.
	Read func(b []byte) (id, parent string, after func(Standing) Standing, ok bool)

	tree   Tree[Standing]
	length int64 // bytes up to the last good end
	kept   int   // lines up to there
	events int
}

// Line implements Cutter.
func (c *TreeCutter) Line(b []byte, start int64) error {
	c.events++
	id, parent, after, ok := c.Read(b)
	if !ok {
		return nil
	}
	above, _ := c.tree.Below(parent)
	var s Standing
	if above != nil {
		s = above.Value
	}
	s = after(s)
	c.tree.Add(id, above, s)
	if s.isGood() {
		c.length, c.kept = start+int64(len(b))+1, c.events
	}
	return nil
}

// Cut implements Cutter. What came before may matter wherever it is cut.
func (c *TreeCutter) Cut() (cut sessions.Cut, certain int64) {
	cut = sessions.Cut{Length: c.length, Events: c.kept, Dropped: c.events - c.kept}
	if leaf := c.tree.Leaf(); leaf != nil && cut.Dropped > 0 {
		cut.Open = leaf.Value.Open
	}
	return cut, 0
}
