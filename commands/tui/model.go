package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	list     snapshotList
	details  details
	overlay  overlay // nil: none
	above    int     // how far it is scrolled
	asked    int     // how many plans were asked for
	leaving  *Launch // what takes the terminal
	note     string  // the last line, until the next key
	problem  bool    // the note is bad news
	figures  bool    // the note says how far something is
}

func newModel(ctx context.Context, o Options) model {
	m := model{
		ctx: ctx, o: o, focus: inRows,
		list:    snapshotList{folded: map[chapterKey]bool{}},
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

// say shows a note.
func (m *model) say(text string) { m.note, m.problem, m.figures = text, false, false }

// mostTold is how many lines of what was done are shown.
const mostTold = 6

// tell shows what was done, below what it was done to, until the next key.
func (m *model) tell(said []string) {
	m.overlay = nil
	if n := len(said); n > mostTold {
		said = append(slices.Clone(said[:mostTold-1]), fmt.Sprintf("… and %d more lines: umbra show and umbra log --ops have it", n-mostTold+1))
	}
	m.say(strings.Join(said, "\n"))
}

// fail shows what went wrong and what to type.
func (m *model) fail(err error) {
	e := missions.AsError(err)
	m.note, m.problem, m.figures = m.o.Clean(e.Message), true, false
	if e.Hint != "" {
		m.note += " (" + m.o.Clean(e.Hint) + ")"
	}
}
