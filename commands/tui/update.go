package tui

import (
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
		beat     bool // it is asked for again after a while
	}
	// tick asks for what is new.
	tick struct{}
	// noticed is progress, or a problem that was met.
	noticed missions.Notice
)

// Update takes one message.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.take(msg) // which changes m
	return m, cmd
}

func (m *model) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.layDetails()
		m.scroll()
	case tea.KeyPressMsg:
		return m.onKey(msg)
	case tea.MouseClickMsg:
		return clicked(m, msg)
	case tea.MouseWheelMsg:
		return wheeled(m, msg)
	case tea.PasteMsg:
		m.onPaste(msg.Content)
	case listed:
		return m.onListed(msg)
	case tick:
		return m.askMissions(true)
	case loaded:
		cmd := m.onLoaded(msg)
		m.scroll()
		return cmd
	case settled:
		if detailKey(msg) == m.details.want {
			return m.askDetail(m.details.want)
		}
	case detail:
		return m.onDetail(msg)
	case painted:
		m.onPainted(detail(msg))
	case pinned:
		m.onPinned(msg)
	case planned:
		return m.onPlanned(msg)
	case answered:
		return msg.take(m)
	case compared:
		msg.take(m)
	case contestants:
		msg.take(m)
	case hits:
		msg.take(m)
	case radar:
		msg.take(m)
	case merged:
		return msg.take(m)
	case mergeText:
		return msg.take(m)
	case mergeEdited:
		return msg.take(m)
	case forked:
		return m.onForked(msg)
	case opened:
		return m.onOpened(msg)
	case closed:
		m.onClosed(msg)
	case noticed:
		m.say(m.o.Clean(msg.Text))
	}
	return nil
}

func (m *model) askMissions(beat bool) tea.Cmd {
	ctx, o := m.ctx, m.o
	return func() tea.Msg {
		list, err := o.Service.Missions(ctx, missions.MissionsRequest{Caller: o.Caller})
		return listed{list, err, beat}
	}
}

// onListed takes the missions, and asks for the history of the one that is
// shown if it has grown.
func (m *model) onListed(l listed) tea.Cmd {
	var again tea.Cmd
	if l.beat {
		again = m.o.later(fresh, tick{})
	}
	if l.err != nil {
		m.fail(l.err)
		return again
	}
	first := m.missions.replace(l.missions)
	switch {
	case m.at().ID == "":
		m.close()
		return again
	case first:
		m.missions.begin(m.o.Mission)
	}
	var history tea.Cmd
	switch {
	case m.at().ID != m.history.mission:
		history = m.open()
	case m.at().Head != m.history.head:
		history = m.askHistory()
	}
	return tea.Batch(history, askRadar(m), askContest(m), again)
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
	m.rows, m.cursor, m.top, m.marks, m.against = nil, 0, 0, nil, ""
	m.details.have, m.details.lines = false, nil
	m.details.turn(detailKey{})
}

// scroll keeps the cursor on the screen.
func (m *model) scroll() {
	h := max(m.layout().rows.h-1, 1)
	n, last := len(m.rows), m.cursor
	if m.history.failed != nil { // which is said below them
		n++
		last = m.cursor + max(m.cursor-(n-3), 0)
	}
	m.top = min(m.top, m.cursor)
	m.top = max(m.top, last-h+1)
	m.top = max(min(m.top, n-h), 0)
}

// move puts the cursor so many rows further.
func (m *model) move(n int) tea.Cmd {
	before := m.cursor
	m.cursor = max(min(m.cursor+n, len(m.rows)-1), 0)
	m.scroll()
	if m.cursor == before {
		return nil
	}
	m.against = ""
	return m.look()
}
