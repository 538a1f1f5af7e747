package tui

// From these widths on there are three panes, and two; a narrow terminal that
// is this tall has two above each other.
const (
	wide   = 120
	medium = 76
	tall   = 32
)

// rect is a pane's place; one that is not shown has no width.
type rect struct{ w, h int }

type layout struct{ missions, rows, details rect }

// layout divides the screen between the title and the last line. Where there is
// no room for all panes, those that the keys do not go to give way.
func (m *model) layout() layout {
	w, h := m.width, max(m.height-2, 0)
	var l layout
	left, other := &l.rows, &l.missions
	if m.focus == inMissions {
		left, other = &l.missions, &l.rows
	}
	switch {
	case w >= wide:
		side := min(max(w/6, 20), 34)
		list := (w - side - 2) * 46 / 100
		l.missions = rect{side, h}
		l.rows = rect{list, h}
		l.details = rect{w - side - list - 2, h}
	case w >= medium:
		list := w / 2
		*left = rect{list, h}
		l.details = rect{w - list - 1, h}
	case h >= tall:
		*left = rect{w, h / 2}
		l.details = rect{w, h - h/2}
	case m.focus == inDetails:
		l.details = rect{w, h}
	default:
		*left = rect{w, h}
	}
	if other.w == 0 {
		other.h = left.h // what is hidden is scrolled as if it were shown
	}
	return l
}
