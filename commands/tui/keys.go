package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// onKey takes a key: what lies over the rest has it first.
func (m *model) onKey(k tea.KeyPressMsg) tea.Cmd {
	key := k.String()
	switch key {
	case "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	}
	m.note = ""
	if m.overlay != nil {
		return m.overlay.key(m, k)
	}
	if cmd, ok := m.onMoveKey(key); ok {
		return cmd
	}
	return m.onViewKey(key)
}

// onPaste takes pasted text.
func (m *model) onPaste(text string) {
	switch o := m.overlay.(type) {
	case input:
		o.text += text
		m.overlay = o
	case forking:
		if !o.doing {
			o.name += text
			m.overlay = o
		}
	}
}

// onMoveKey takes the keys that move.
func (m *model) onMoveKey(key string) (tea.Cmd, bool) {
	page := max(m.layout().rows.h-2, 1)
	step := map[string]int{
		"j": 1, "down": 1, "k": -1, "up": -1, "pgdown": page, "ctrl+f": page, "pgup": -page, "ctrl+b": -page,
		"ctrl+d": page / 2, "ctrl+u": -page / 2, "g": -1 << 30, "home": -1 << 30, "G": 1 << 30, "end": 1 << 30,
	}[key]
	switch {
	case step != 0 && m.focus == inMissions:
		if !m.missions.move(step) {
			return nil, true
		}
		return m.open(), true
	case step != 0 && m.focus == inDetails && !m.details.talking:
		m.details.movePointer(step, max(m.layout().details.h-1, 1))
		return nil, true
	case step != 0 && m.focus == inDetails:
		m.details.scroll(step)
		return nil, true
	case step != 0:
		return m.move(step), true
	}
	switch key {
	case "J":
		m.details.scroll(1)
	case "K":
		m.details.scroll(-1)
	case "]":
		return m.move(m.list.toTurn(1)), true
	case "[":
		return m.move(m.list.toTurn(-1)), true
	case "tab", "l", "right":
		m.focus = (m.focus + 1) % 3
		m.layDetails()
	case "shift+tab", "h", "left":
		m.focus = (m.focus + 2) % 3
		m.layDetails()
	default:
		return nil, false
	}
	return nil, true
}

// onViewKey takes the keys that change what is shown, and those that act.
func (m *model) onViewKey(key string) tea.Cmd {
	switch key {
	case "q":
		return tea.Quit
	case "?":
		m.lay(help{})
	case "esc":
		return m.clear()
	case "z":
		m.list.fold()
		return m.settle()
	case "Z":
		m.list.foldAll()
		return m.settle()
	case "v":
		m.details.headers = !m.details.headers
		m.layDetails()
	case "space":
		switch m.focus {
		case inDetails:
			if !m.details.markPath() {
				m.say("no file is on this line")
			}
			m.layDetails()
			return nil
		case inMissions:
			m.missions.mark()
			return nil
		}
		m.list.mark()
		return m.look()
	case "d":
		if m.focus == inMissions {
			return compareForks(m)
		}
		return m.compare()
	case "c":
		m.details.talking, m.details.top = !m.details.talking, 0
		m.layDetails()
	case "/":
		m.lay(askFilter(m.list.filter.typed))
	case "p":
		m.askPin()
	case "y":
		if e, ok := m.list.entryAt(); ok {
			m.say("copied " + e.ID)
			return tea.SetClipboard(e.ID)
		}
	case "enter":
		if m.focus == inMissions {
			m.focus = inRows
			return nil
		}
		return m.planRestore()
	case "ctrl+r":
		return m.readAgain()
	case "f":
		return m.planFork()
	case "b":
		return askBlame(m)
	case "o", "O":
		return m.openFile(key == "O")
	case "u":
		return m.planStep(undoPlan)
	case "U":
		return m.planStep(redoPlan)
	default:
		return manage(m, key)
	}
	return nil
}

// clear takes away marks, then a comparison, then the filter.
func (m *model) clear() tea.Cmd {
	switch {
	case m.focus == inDetails && len(m.details.marked) > 0:
		m.details.marked = nil
		m.layDetails()
		return nil
	case m.focus == inMissions && len(m.missions.marks) > 0:
		m.missions.marks = nil
		return nil
	case len(m.list.marks) > 0, m.list.against != "":
		m.list.marks, m.list.against = nil, ""
		return m.look()
	}
	return m.narrow("")
}

// narrow filters the list. A filter that nothing can match leaves it as it is.
func (m *model) narrow(typed string) tea.Cmd {
	before, now := m.list.filter, parseFilter(typed)
	if err := now.check(); err != nil {
		m.fail(err)
		return nil
	}
	m.list.filter = now
	if m.list.filter.path != before.path {
		return m.open()
	}
	m.list.rebuild()
	return m.settle()
}

// marked are two marks at most, of which one is put on something, or taken from it.
func marked(marks []string, id string) []string {
	without := slices.DeleteFunc(slices.Clone(marks), func(x string) bool { return x == id })
	if len(without) < len(marks) {
		return without
	}
	without = append(without, id)
	return without[max(len(without)-2, 0):]
}

// compare shows what differs: between the mark and the cursor, or between the
// cursor and the workspace now.
func (m *model) compare() tea.Cmd {
	e, ok := m.list.entryAt()
	switch {
	case !ok:
		return nil
	case len(m.list.marks) == 1 && m.list.marks[0] != e.ID:
		m.list.marks = []string{m.list.marks[0], e.ID}
		return m.look()
	}
	m.list.marks, m.list.against = nil, e.ID
	m.say("compared with the workspace as it is now; esc goes back")
	return m.look()
}
