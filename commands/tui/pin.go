package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// pinned is a snapshot that was given a name, or why it was not.
type pinned struct {
	pin missions.Pin
	err error
}

// askPin asks for the name of a pin.
func (m *model) askPin() {
	e, ok := m.list.entryAt()
	if !ok {
		return
	}
	m.lay(input{title: "pin " + m.o.Short(e.ID), hint: "a name", done: func(m *model, name string) tea.Cmd {
		ctx, o := m.ctx, m.o
		return func() tea.Msg {
			pin, err := o.Service.Pin(ctx, missions.PinRequest{Caller: o.Caller, Moment: e.ID, Name: name})
			return pinned{pin, err}
		}
	}})
}

// take tells the user of it.
func (p pinned) take(m *model) {
	if p.err != nil {
		m.fail(p.err)
		return
	}
	m.say(m.o.Clean(p.pin.Name) + " is " + m.o.Short(p.pin.Snapshot))
	if i := m.list.history.index(p.pin.Snapshot); i >= 0 {
		m.list.history.entries = slices.Clone(m.list.history.entries)
		e := &m.list.history.entries[i]
		e.Pins = append(slices.Clip(e.Pins), p.pin.Name)
	}
}
