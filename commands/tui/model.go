package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// pane is a part of the screen that keys can go to.
type pane int

const (
	inMissions pane = iota
	inRows
	inDetails
)

// model is everything that is shown. Update makes a new one of it; what it
// refers to is replaced, never changed, once it was shown.
type model struct {
	ctx context.Context
	o   Options

	width, height int
	focus         pane

	missions missionList

	history history
	filter  filter
	folded  map[chapterKey]bool
	rows    []row
	cursor  int
	top     int
	marks   []string // ids of snapshots, two at most
	details details
	overlay overlay // nil: none
	above   int     // how far it is scrolled
	asked   int     // how many plans were asked for
	leaving *Launch // what takes the terminal
	against string  // the snapshot that the workspace is compared with, "" for none
	note    string  // the last line, until the next key
	problem bool    // the note is bad news
}

func newModel(ctx context.Context, o Options) model {
	m := model{
		ctx: ctx, o: o, focus: inRows, folded: map[chapterKey]bool{},
		details: details{cache: map[string]detail{}},
	}
	if o.Stopped != nil {
		m.fail(o.Stopped)
	}
	return m
}

// Init asks for the missions.
func (m model) Init() tea.Cmd { return m.askMissions(true) }

// at is the mission that is shown; its ID is empty if there is none.
func (m *model) at() missions.Mission { return m.missions.at() }

// rowAt is the row under the cursor.
func (m *model) rowAt() (row, bool) {
	if m.cursor < len(m.rows) {
		return m.rows[m.cursor], true
	}
	return row{}, false
}

// entryAt is the snapshot that the cursor means: a turn means its newest.
func (m *model) entryAt() (missions.Entry, bool) {
	r, ok := m.rowAt()
	if !ok {
		return missions.Entry{}, false
	}
	return m.history.entries[r.entry], true
}

// say shows a note.
func (m *model) say(text string) { m.note, m.problem = text, false }

// fail shows what went wrong and what to type.
func (m *model) fail(err error) {
	e := missions.AsError(err)
	m.note, m.problem = m.o.Clean(e.Message), true
	if e.Hint != "" {
		m.note += " (" + m.o.Clean(e.Hint) + ")"
	}
}

// rebuild makes the rows anew and keeps the cursor on what it was on, or at the
// newest if it was there.
func (m *model) rebuild() {
	before, ok := m.rowAt()
	follow := m.cursor == 0
	m.rows = buildRows(m.history.entries, m.folded, m.filter, m.history.done)
	m.cursor = min(m.cursor, max(len(m.rows)-1, 0))
	if !ok || follow {
		return
	}
	if i := slices.IndexFunc(m.rows, func(r row) bool { return r.key == before.key }); i >= 0 {
		m.top += i - m.cursor
		m.cursor = i
	} else if i := slices.IndexFunc(m.rows, func(r row) bool { return r.turn == before.turn && r.key.turn }); i >= 0 {
		m.cursor = i
	}
	m.top = max(m.top, 0)
}
