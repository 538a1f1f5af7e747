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

// answer is a message that only changes what is shown; question also asks for something.
type (
	answer   interface{ take(*model) }
	question interface{ take(*model) tea.Cmd }
)

// Update takes one message.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.take(msg) // which changes m
	return m, cmd
}

func (m *model) take(msg tea.Msg) tea.Cmd {
	if m.figures && isOutcome(msg) {
		m.say("") // the keys are to be seen again
	}
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
	case tick:
		return m.askMissions(true)
	case settled:
		if detailKey(msg) == m.details.want {
			return m.askDetail(m.details.want)
		}
	case answer:
		msg.take(m)
	case question:
		return msg.take(m)
	case noticed:
		m.say(m.o.Clean(msg.Text))
		m.figures = msg.Unit != ""
	}
	return nil
}

// isOutcome reports whether msg is the end of what the user has asked for. Until then
// figures of how far it is stay, whatever else is read each second.
func isOutcome(msg tea.Msg) bool {
	switch msg.(type) {
	case listed, radar, contestants:
		return false
	case answer, question:
		return true
	}
	return false
}

func (m *model) askMissions(beat bool) tea.Cmd {
	ctx, o := m.ctx, m.o
	return func() tea.Msg {
		list, err := o.Service.Missions(ctx, missions.MissionsRequest{Caller: o.Caller})
		return listed{list, err, beat}
	}
}

// take takes the missions, and asks for the history of the one that is
// shown if it has grown.
func (l listed) take(m *model) tea.Cmd {
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
	case m.at().ID != m.list.history.mission:
		history = m.open()
	case m.at().Head != m.list.history.head:
		history = m.askHistory()
	}
	return tea.Batch(history, askRadar(m), askContest(m), again)
}

// open begins to show the mission.
func (m *model) open() tea.Cmd {
	m.close()
	m.list.history.mission, m.list.history.path = m.at().ID, m.list.filter.path
	return m.askHistory()
}

// close empties the screen.
func (m *model) close() {
	m.list.history = history{}
	m.list.rows, m.list.cursor, m.list.top, m.list.against = nil, 0, 0, ""
	if len(m.list.marks) == 2 { // one is kept, to be compared with a moment of another mission
		m.list.marks = nil
	}
	m.details.have, m.details.lines = false, nil
	m.details.turn(detailKey{})
}

// settle keeps the cursor on the screen, and shows what it is on.
func (m *model) settle() tea.Cmd {
	m.scroll()
	return m.look()
}

// scroll keeps the cursor on the screen.
func (m *model) scroll() { m.list.scroll(max(m.layout().rows.h-1, 1)) }

// move puts the cursor so many rows further.
func (m *model) move(n int) tea.Cmd {
	if !m.list.move(n) {
		m.scroll()
		return nil
	}
	return m.settle()
}
