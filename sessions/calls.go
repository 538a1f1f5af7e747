package sessions

import "slices"

// Calls are tool calls whose results are still to come. The zero value has none.
type Calls struct{ open []Tool }

// Begin adds a call; one of the same id takes the place of the one before.
func (c *Calls) Begin(t Tool) {
	if at := c.index(t.ID); at >= 0 {
		c.open[at] = t
		return
	}
	c.open = append(c.open, t)
}

// End takes out the call with that id, if there is one.
func (c *Calls) End(id string) {
	if at := c.index(id); at >= 0 {
		c.open = slices.Delete(c.open, at, at+1)
	}
}

// GiveUp takes out all.
func (c *Calls) GiveUp() { c.open = c.open[:0] }

// Len is how many there are.
func (c *Calls) Len() int { return len(c.open) }

// Tools are the calls, in the order in which they began; nil if there are none.
func (c *Calls) Tools() []Tool { return slices.Clip(append([]Tool(nil), c.open...)) }

func (c *Calls) index(id string) int {
	return slices.IndexFunc(c.open, func(t Tool) bool { return t.ID == id })
}
