package tui

import tea "charm.land/bubbletea/v2"

// wheelStep is how many lines one step of the wheel moves.
const wheelStep = 3

// clicked goes to what was clicked: a mission, a snapshot or a line of the details.
func clicked(m *model, c tea.MouseClickMsg) tea.Cmd {
	if c.Button != tea.MouseLeft || m.overlay != nil {
		return nil
	}
	m.note = ""
	p, at, ok := paneAt(m, c.X, c.Y)
	if !ok {
		return nil
	}
	if m.focus != p {
		m.focus = p
		m.layDetails()
	}
	switch {
	case at < 0: // the heading
	case p == inMissions:
		if to := m.missions.first(m.layout().missions) + at; to < len(m.missions.all) && m.missions.move(to-m.missions.shown) {
			return m.open()
		}
	case p == inDetails:
		if to := m.details.top + at; to < len(m.details.lines) && !m.details.talking {
			m.details.pointer = to
		}
	case m.list.top+at < len(m.list.rows):
		return m.move(m.list.top + at - m.list.cursor)
	}
	return nil
}

// wheeled moves what is under the pointer, or what lies over the rest.
func wheeled(m *model, w tea.MouseWheelMsg) tea.Cmd {
	step := map[tea.MouseButton]int{tea.MouseWheelUp: -wheelStep, tea.MouseWheelDown: wheelStep}[w.Button]
	if step == 0 {
		return nil
	}
	if m.overlay != nil {
		for range wheelStep {
			m.scrollOver(map[bool]string{true: "down", false: "up"}[step > 0])
		}
		return nil
	}
	switch p, _, ok := paneAt(m, w.X, w.Y); {
	case !ok:
	case p == inMissions:
		if m.missions.move(step) {
			return m.open()
		}
	case p == inDetails:
		m.details.scroll(step)
	default:
		return m.move(step)
	}
	return nil
}

// paneAt is the pane at a place of the screen, and which line of what it lists is there,
// -1 for its heading.
func paneAt(m *model, x, y int) (p pane, at int, ok bool) {
	l := m.layout()
	if y--; y < 0 || y >= m.height-2 || x < 0 || x >= m.width { // below the title, above the keys
		return 0, 0, false
	}
	list, of := l.rows, inRows
	if list.w == 0 {
		list, of = l.missions, inMissions
	}
	switch {
	case list.w+l.details.w > m.width && y >= list.h: // above each other
		return inDetails, y - list.h - 1, true
	case list.w+l.details.w > m.width:
		return of, y - 1, true
	}
	for _, shown := range []struct {
		rect
		of pane
	}{{l.missions, inMissions}, {l.rows, inRows}, {l.details, inDetails}} {
		if shown.w > 0 && x < shown.w {
			return shown.of, y - 1, true
		}
		if shown.w > 0 {
			x -= shown.w + 1
		}
	}
	return 0, 0, false
}
