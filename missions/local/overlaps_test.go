package local

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestOverlaps: status names the live forks that have changed the same lines, whichever
// moment each is of, and no others.
func TestOverlaps(t *testing.T) {
	t.Parallel()
	c, f := newForkedTalk(t) // f has changed line 2 of a.txt
	apart := c.forkTalker("apart")
	apart.takeTurn("apart", "a.txt", tenLines(7, "apart"))
	c.sameLines("two changes apart")

	same := c.forkTalker("same")
	same.takeTurn("same", "a.txt", tenLines(1, "another"))
	c.sameLines("line 2 twice", "a.txt [{2 2}] other,same")

	// Two lines that the parent puts before it move it, and the later fork begins there.
	c.takeTurn("meanwhile", "a.txt", "x\ny\n"+tenLines(-1, ""))
	later := c.forkTalker("later")
	later.takeTurn("later", "a.txt", "x\ny\n"+tenLines(7, "later"))
	c.sameLines("line 8 by way of line 10", "a.txt [{2 2} {8 8}] other,apart,same,later")

	f.hook("SessionEnd", map[string]any{"reason": "other"})
	c.sameLines("one has ended", "a.txt [{8 8}] apart,later")
	later.write("new.txt", "later\n")
	apart.write("new.txt", "apart\n")
	c.snapshots("later", "apart")
	c.sameLines("a file that both have made", "a.txt [{8 8}] apart,later", "new.txt [] apart,later")
}

// sameLines fails unless status says just this of live forks.
func (b *testBench) sameLines(when string, want ...string) {
	b.Helper()
	s, err := b.local.Status(context.Background(), missions.StatusRequest{Caller: b.caller()})
	if err != nil {
		b.Fatal(err)
	}
	var got []string
	for _, o := range s.Overlaps {
		got = append(got, fmt.Sprintf("%s %v %s", o.Path, o.Lines, strings.Join(o.Missions, ",")))
	}
	if !slices.Equal(got, want) {
		b.Errorf("%s: %q, want %q", when, got, want)
	}
}
