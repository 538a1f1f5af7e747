package sessions

import (
	"slices"
	"testing"
)

// TestCalls begins and ends calls, one of them twice, and gives up the rest.
func TestCalls(t *testing.T) {
	var c Calls
	c.End("none")
	if c.Tools() != nil {
		t.Error("the zero value has calls")
	}
	for _, tool := range []Tool{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "a", Name: "again"}} {
		c.Begin(tool)
	}
	c.End("b")
	left := c.Tools()
	c.End("a")
	if want := []Tool{{ID: "a", Name: "again"}, {ID: "c"}}; !slices.Equal(left, want) || c.Len() != 1 {
		t.Errorf("left are %+v, then %d", left, c.Len())
	}
	if c.GiveUp(); c.Len() != 0 || c.Tools() != nil {
		t.Errorf("given up, %+v are left", c.Tools())
	}
}
