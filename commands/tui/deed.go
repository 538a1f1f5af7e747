package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// deed is something that is done to a mission as a whole. It says what it would do, and
// nothing is done before enter. What is refused is said in the last line.
type deed struct {
	id     int // tells its answers from those to others
	title  string
	stage  stage
	said   []string // what it would do
	choice string   // what tab adds to it, "" for nothing
	chosen bool
	plan   func(ctx context.Context, chosen bool) (said []string, err error) // nil: said is all there is
	do     func(ctx context.Context, chosen bool) (outcome, error)
}

// outcome is what came of a deed.
type outcome struct {
	note   string   // for the last line
	said   []string // what is too much for that line
	launch *Launch  // what takes the terminal
}

// answered is the plan of a deed or, once it was carried out, its outcome.
type answered struct {
	id      int
	done    bool
	said    []string
	outcome outcome
	err     error
}

// ask shows what a deed would do.
func (d deed) ask(m *model) tea.Cmd {
	m.asked++
	d.id, d.stage = m.asked, shown
	if d.plan == nil {
		m.lay(d)
		return nil
	}
	d.stage = asking
	m.lay(d)
	ctx := m.ctx
	return func() tea.Msg {
		said, err := d.plan(ctx, d.chosen)
		return answered{id: d.id, said: said, err: err}
	}
}

// carry does a deed.
func (d deed) carry(m *model) tea.Cmd {
	m.asked++
	d.id, d.stage = m.asked, doing
	m.lay(d)
	ctx := m.ctx
	return func() tea.Msg {
		outcome, err := d.do(ctx, d.chosen)
		return answered{id: d.id, done: true, outcome: outcome, err: err}
	}
}

// take takes an answer, if it is to what is shown.
func (a answered) take(m *model) tea.Cmd {
	d, ok := m.overlay.(deed)
	if !ok || d.id != a.id {
		return nil
	}
	switch {
	case a.err != nil:
		m.overlay = nil
		m.fail(a.err)
	case !a.done:
		d.stage, d.said = shown, a.said
		m.overlay = d
		return nil
	case a.outcome.launch != nil:
		m.leaving = a.outcome.launch
		return tea.Quit
	case len(a.outcome.said) > 0:
		m.tell(a.outcome.said)
	default:
		m.overlay = nil
		m.say(a.outcome.note)
	}
	return m.askMissions(false)
}

func (d deed) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	key := k.String()
	switch {
	case d.stage == doing:
		return nil // it is not left half done
	case m.scrollOver(key):
		return nil
	case key == "esc", key == "q":
		m.overlay = nil
	case d.stage == shown && key == "enter":
		return d.carry(m)
	case d.choice != "" && (key == "tab" || key == "shift+tab"):
		d.chosen = !d.chosen
		return d.ask(m)
	}
	return nil
}

func (d deed) lines(_ *model, width int) []line {
	lines := wrapped(d.title, width, bold)
	lines = append(lines, line{})
	for _, text := range d.said[:min(len(d.said), mostPlan)] {
		lines = append(lines, wrapped(text, width, plain)...)
	}
	if d.choice != "" {
		lines = append(lines, line{}, line{{chosen(d.chosen) + "tab", bold}, {"  " + d.choice, plain}})
	}
	switch d.stage {
	case asking:
		lines = append(lines, line{{"reading …", dim}})
	case doing:
		lines = append(lines, line{{"working …", bold}})
	}
	return lines
}

func (d deed) keys(*model) string {
	switch d.stage {
	case asking:
		return "esc goes back"
	case doing:
		return "it is being done"
	}
	return "enter does it  esc goes back"
}

// Launch is an agent that takes the terminal when the interface has left it.
type Launch struct {
	Mission missions.Mission
	Forked  *missions.ForkResult // what made the mission; nil if its agent is resumed
}
