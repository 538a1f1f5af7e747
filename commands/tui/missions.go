package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/umbra-vcs/umbra/missions"
)

// missionList is the missions of the project, in the order of the tree.
type missionList struct {
	all    []missions.Mission
	depths []int
	shown  int      // the mission that the rest of the screen is of
	marks  []string // ids of those to compare, two at most
	radar  radar
}

// replace takes the missions as they are now. The one that is shown stays so; where it has
// gone, it is the one in its place. It reports whether these are the first.
func (l *missionList) replace(all []missions.Mission) (first bool) {
	id, first := l.at().ID, len(l.all) == 0
	l.all, l.depths = tree(all)
	if i := slices.IndexFunc(l.all, func(x missions.Mission) bool { return x.ID == id }); i >= 0 {
		l.shown = i
	}
	l.shown = max(min(l.shown, len(l.all)-1), 0)
	l.marks = slices.DeleteFunc(slices.Clone(l.marks), func(id string) bool { return l.find(id).ID == "" })
	return first
}

// at is the mission that is shown; its ID is empty if there is none.
func (l *missionList) at() missions.Mission {
	if l.shown < len(l.all) {
		return l.all[l.shown]
	}
	return missions.Mission{}
}

// waiting says which missions wait for their user that are not shown.
func (l *missionList) waiting(o Words) line {
	var names []string
	for i, x := range l.all {
		if i != l.shown && x.State == missions.StateWaiting {
			names = append(names, o.Clean(x.Name))
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return line{{"  ! " + names[0] + " waits for you", yellow}}
	}
	return line{{fmt.Sprintf("  ! %s and %d more wait for you", names[0], len(names)-1), yellow}}
}

// find is a mission by its id; its ID is empty if it is not listed.
func (l *missionList) find(id string) missions.Mission {
	for _, x := range l.all {
		if x.ID == id {
			return x
		}
	}
	return missions.Mission{}
}

// begin shows the mission that was asked for, by name or id, else the one that changed last.
func (l *missionList) begin(wanted string) {
	for i, x := range l.all {
		if wanted != "" && (x.Name == wanted || x.ID == wanted) {
			l.shown = i
			return
		}
		if x.UpdatedAt.After(l.at().UpdatedAt) {
			l.shown = i
		}
	}
}

// move shows the mission so many lines further, and reports whether that is another one.
func (l *missionList) move(n int) bool {
	to := max(min(l.shown+n, len(l.all)-1), 0)
	moved := to != l.shown
	l.shown = to
	return moved
}

// mark marks the mission that is shown, or no longer.
func (l *missionList) mark() {
	if id := l.at().ID; id != "" {
		l.marks = marked(l.marks, id)
	}
}

// pair is the two missions that are meant: the marked ones, or the marked one and the one
// that is shown.
func (l *missionList) pair() (ids []string, isPair bool) {
	ids = l.marks
	if len(ids) == 1 {
		ids = append(slices.Clip(ids), l.at().ID)
	}
	return ids, len(ids) == 2 && ids[0] != ids[1]
}

// leastName is how many columns a name has at least: its state gives way to that.
const leastName = 8

// first is the mission that the pane begins with.
func (l *missionList) first(r rect) int { return max(l.shown-r.h+2, 0) }

// lines are the pane.
func (l *missionList) lines(r rect, focused bool, o Words) []string {
	if r.w == 0 || r.h == 0 {
		return nil
	}
	lines := []string{heading("missions", focused, r.w)}
	for i := l.first(r); i < len(l.all) && len(lines) < r.h; i++ {
		x := l.all[i]
		lead := ""
		if l.depths[i] > 0 {
			lead = strings.Repeat("  ", l.depths[i]-1) + "└ "
		}
		point := "  "
		if i == l.shown {
			point = "> "
		}
		if slices.Contains(l.marks, x.ID) {
			point = point[:1] + "*"
		}
		warning := ""
		if l.radar.warning(x.Name, o) != "" {
			warning = "! "
		}
		state := "  " + stateText(x)
		room := r.w - ansi.StringWidth(point+lead+warning+state)
		name := ansi.Truncate(o.Clean(x.Name), max(room, leastName), "…")
		row := line{{point + lead, plain}, {warning, yellow}, {name, plain}, {state, stateStyle(x.State)}}
		lines = append(lines, row.render(r.w, i == l.shown && focused))
	}
	return fill(lines, r)
}

// stateText is a mission's state; one whose terminal serves a side fork is parked.
func stateText(m missions.Mission) string {
	if m.SideFork != "" {
		return "parked"
	}
	return m.StateWords()
}

// tree orders missions so that each fork follows its source, with its depth.
func tree(list []missions.Mission) (ordered []missions.Mission, depths []int) {
	known := map[string]bool{}
	for _, m := range list {
		known[m.ID] = true
	}
	var add func(parent string, depth int)
	add = func(parent string, depth int) {
		for _, m := range list {
			of := ""
			if m.Parent != nil && known[m.Parent.Mission] {
				of = m.Parent.Mission
			}
			if of == parent {
				ordered, depths = append(ordered, m), append(depths, depth)
				add(m.ID, depth+1)
			}
		}
	}
	add("", 0)
	return ordered, depths
}
