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
// line what it goes on from, the calls that are open there and where a cut is that ends there.
type TreeCutter struct {
	// Read reads a line: its id, that of the line that it goes on from, and how the
	// conversation stands after it; false if it is none of the tree.
	Read func(b []byte) (id, parent string, after func(Standing) Standing, ok bool)

	tree   Tree[branch]
	events int
}

// branch is what leads to a line. What the user has taken back is in none that goes on
// from before it, though it stands between in the file.
type branch struct {
	Standing
	length int64 // bytes up to its last good end
	kept   int   // lines up to there
}

// Line implements Cutter.
func (c *TreeCutter) Line(b []byte, start int64) error {
	c.events++
	id, parent, after, ok := c.Read(b)
	if !ok {
		return nil
	}
	above, _ := c.tree.Below(parent)
	var leads branch
	if above != nil {
		leads = above.Value
	}
	leads.Standing = after(leads.Standing)
	if leads.isGood() {
		leads.length, leads.kept = start+int64(len(b))+1, c.events
	}
	c.tree.Add(id, above, leads)
	return nil
}

// Cut implements Cutter. What came before may matter wherever it is cut.
func (c *TreeCutter) Cut() (cut sessions.Cut, certain int64) {
	leaf := c.tree.Leaf()
	if leaf == nil {
		return sessions.Cut{Dropped: c.events}, 0
	}
	cut = sessions.Cut{Length: leaf.Value.length, Events: leaf.Value.kept, Dropped: c.events - leaf.Value.kept}
	if cut.Dropped > 0 {
		cut.Open = leaf.Value.Open
	}
	return cut, 0
}
