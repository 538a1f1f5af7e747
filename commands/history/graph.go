package history

import (
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
)

// graph draws snapshots as git log --graph does, newest first: a lane for each
// line of history, which ends where it forked from another.
type graph struct {
	parents map[string]string // of the entries that are listed
	want    []string          // what each lane is drawn down to; "" is a free one
}

// newGraph knows which of the listed entries comes before which. Where those in
// between are left out, it is the next older one of the mission or, of a fork's
// oldest, of the mission that it was forked from.
func newGraph(list []missions.Entry, family []missions.Mission) *graph {
	g := &graph{parents: map[string]string{}}
	listed, source := map[string]bool{}, map[string]string{}
	for _, e := range list {
		listed[e.ID] = true
	}
	for _, m := range family {
		if m.Parent != nil {
			source[m.ID] = m.Parent.Mission
		}
	}
	older := map[string]string{} // the newest that was passed, of each mission
	for _, e := range slices.Backward(list) {
		switch {
		case e.Parent == "":
		case listed[e.Parent]:
			g.parents[e.ID] = e.Parent
		default:
			from := e.Mission
			for seen := 0; older[from] == "" && source[from] != "" && seen < len(family); seen++ {
				from = source[from]
			}
			g.parents[e.ID] = older[from]
			if older[from] == "" {
				g.parents[e.ID] = "older" // it is not listed: the lane goes on
			}
		}
		older[e.Mission] = e.ID
	}
	return g
}

// next gives what is drawn before an entry, and the lines above it where lanes end.
func (g *graph) next(id string) (lane string, above []string) {
	at := slices.Index(g.want, id)
	if at < 0 {
		if at = slices.Index(g.want, ""); at < 0 {
			at = len(g.want)
			g.want = append(g.want, "")
		}
		g.want[at] = id
	}
	if last := g.lastOf(id); last > at {
		above = append(above, g.join(id, at, last))
		for i := at + 1; i <= last; i++ {
			if g.want[i] == id {
				g.want[i] = ""
			}
		}
		g.trim()
	}
	var b strings.Builder
	for i, w := range g.want {
		switch {
		case i == at:
			b.WriteString("* ")
		case w == "":
			b.WriteString("  ")
		default:
			b.WriteString("│ ")
		}
	}
	g.want[at] = g.parents[id]
	g.trim()
	return strings.TrimRight(b.String(), " "), above
}

func (g *graph) lastOf(id string) int {
	for i, w := range slices.Backward(g.want) {
		if w == id {
			return i
		}
	}
	return -1
}

// trim takes away free lanes at the right.
func (g *graph) trim() {
	for len(g.want) > 0 && g.want[len(g.want)-1] == "" {
		g.want = g.want[:len(g.want)-1]
	}
}

// join draws the lanes that end in the one at, the last of them in last.
func (g *graph) join(id string, at, last int) string {
	var b strings.Builder
	for i, w := range g.want {
		ends := w == id && i > at
		switch {
		case i == at:
			b.WriteString("├")
		case ends && i == last:
			b.WriteString("╯")
		case ends:
			b.WriteString("┴")
		case i > at && i < last && w == "":
			b.WriteString("─")
		case i > at && i < last:
			b.WriteString("┼")
		case w == "":
			b.WriteString(" ")
		default:
			b.WriteString("│")
		}
		if i >= at && i < last {
			b.WriteString("─")
		} else {
			b.WriteString(" ")
		}
	}
	return strings.TrimRight(b.String(), " ")
}
