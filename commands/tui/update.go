package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// How long the cursor rests before details are asked for, and how often the
// Service is asked for what is new.
const (
	restful = 40 * time.Millisecond
	fresh   = time.Second
)

type (
	// listed are the missions of the project.
	listed struct {
		missions []missions.Mission
		err      error
	}
	// tick asks for what is new.
	tick struct{}
	// noticed is progress, or a problem that was met.
	noticed missions.Notice
)

// Update takes one message.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.layDetails()
		m.scroll()
		return m, nil
	case tea.KeyPressMsg:
		return m.onKey(msg)
	case tea.PasteMsg:
		if i, ok := m.overlay.(input); ok {
			i.text += msg.Content
			m.overlay = i
		}
		return m, nil
	case listed:
		return m.onListed(msg)
	case tick:
		return m, m.askMissions()
	case loaded:
		cmd := m.onLoaded(msg)
		m.scroll()
		return m, cmd
	case settled:
		if detailKey(msg) == m.details.want {
			return m, m.askDetail(m.details.want)
		}
		return m, nil
	case detail:
		m.onDetail(msg)
		return m, nil
	case pinned:
		m.onPinned(msg)
		return m, nil
	case noticed:
		m.say(m.o.Clean(msg.Text))
		return m, nil
	}
	return m, nil
}

func (m *model) askMissions() tea.Cmd {
	ctx, o := m.ctx, m.o
	return func() tea.Msg {
		list, err := o.Service.Missions(ctx, missions.MissionsRequest{Caller: o.Caller})
		return listed{list, err}
	}
}

// onListed takes the missions, and asks for the history of the one that is
// shown if it has grown.
func (m model) onListed(l listed) (tea.Model, tea.Cmd) {
	again := m.o.later(fresh, tick{})
	if l.err != nil {
		m.fail(l.err)
		return m, again
	}
	at, first := m.at().ID, len(m.missions) == 0
	m.missions, m.depths = tree(l.missions)
	m.mission = max(slices.IndexFunc(m.missions, func(x missions.Mission) bool { return x.ID == at }), 0)
	if len(m.missions) == 0 {
		m.close()
		return m, again
	}
	if first {
		m.mission = m.begin()
	}
	if m.at().ID != m.history.mission {
		opened := m.open() // which changes m
		return m, tea.Batch(opened, again)
	}
	if m.at().Head != m.history.head {
		return m, tea.Batch(m.askHistory(), again)
	}
	return m, again
}

// begin is the mission to begin with: the one that was asked for, else the one
// that changed last.
func (m *model) begin() int {
	newest := 0
	for i, x := range m.missions {
		if m.o.Mission != "" && (x.Name == m.o.Mission || x.ID == m.o.Mission) {
			return i
		}
		if x.UpdatedAt.After(m.missions[newest].UpdatedAt) {
			newest = i
		}
	}
	return newest
}

// open begins to show the mission.
func (m *model) open() tea.Cmd {
	m.close()
	m.history.mission, m.history.path = m.at().ID, m.filter.path
	return m.askHistory()
}

// close empties the screen.
func (m *model) close() {
	m.history = history{}
	m.rows, m.cursor, m.top, m.marks = nil, 0, 0, nil
	m.details.have, m.details.lines, m.details.want = false, nil, detailKey{}
}

// scroll keeps the cursor on the screen.
func (m *model) scroll() {
	h := max(m.layout().rows.h-1, 1)
	m.top = min(m.top, m.cursor)
	m.top = max(m.top, m.cursor-h+1)
	m.top = max(min(m.top, len(m.rows)-h), 0)
}

// move puts the cursor so many rows further.
func (m *model) move(n int) tea.Cmd {
	before := m.cursor
	m.cursor = max(min(m.cursor+n, len(m.rows)-1), 0)
	m.scroll()
	if m.cursor == before {
		return nil
	}
	return m.look()
}
