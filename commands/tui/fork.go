package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// forking asks what a fork of the snapshot is called, and whether its agent is
// launched. Nothing is made before enter.
type forking struct {
	id     int // tells its answer from those to others
	entry  missions.Entry
	name   string // "" has one chosen
	launch bool
	copies bool // ignored files beyond the limit, too
	skips  bool // all ignored files
	doing  bool
	err    error // why it was not made
}

// forked is a fork that was made, or why it was not.
type forked struct {
	id     int
	result missions.ForkResult
	err    error
}

// planFork shows what a fork would be.
func (m *model) planFork() tea.Cmd {
	if e, ok := m.list.entryAt(); ok {
		m.lay(forking{entry: e})
	}
	return nil
}

func (f forking) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	key := k.String()
	switch {
	case f.doing:
		return nil
	case key == "esc":
		m.overlay = nil
		return nil
	case key == "enter":
		return f.make(m)
	case key == "tab", key == "shift+tab":
		f.launch = !f.launch
	case key == "ctrl+y" && f.asks():
		f.copies, f.skips = !f.copies, false
	case key == "ctrl+n" && f.asks():
		f.skips, f.copies = !f.skips, false
	default:
		f.name = edited(f.name, k)
	}
	m.overlay = f
	return nil
}

// asks reports whether the fork was refused for how much it would copy, which the
// refusal counts.
func (f forking) asks() bool {
	if f.err == nil {
		return false
	}
	e := missions.AsError(f.err)
	return e.Kind == missions.KindConflict && len(e.Details) > 0
}

// make has the fork made.
func (f forking) make(m *model) tea.Cmd {
	m.asked++
	f.id, f.doing = m.asked, true
	m.overlay = f
	ctx, o := m.ctx, m.o
	r := missions.ForkRequest{Caller: o.Caller, From: f.entry.ID, Name: strings.TrimSpace(f.name), Launching: f.launch, Yes: f.copies}
	if f.skips {
		r.Ignored = "skip"
	}
	return func() tea.Msg {
		result, err := o.Service.Fork(ctx, r)
		return forked{f.id, result, err}
	}
}

// take takes the outcome. An agent that is to be launched takes the terminal.
func (msg forked) take(m *model) tea.Cmd {
	f, ok := m.overlay.(forking)
	if !ok || f.id != msg.id {
		return nil
	}
	f.doing, f.err = false, msg.err
	m.overlay = f
	switch {
	case msg.err != nil:
		return nil
	case f.launch:
		m.leaving = &Launch{msg.result.Missions[0], &msg.result}
		return tea.Quit
	}
	m.tell(m.o.Forked(msg.result))
	return m.askMissions(false)
}

func (f forking) lines(m *model, width int) []line {
	name, then := m.o.Clean(f.name)+"_", [...]string{"only make it", "launch its agent here, and leave the timeline"}
	if f.name == "" {
		name += "  (empty: a name is chosen)"
	}
	lines := []line{
		{{"fork " + m.o.Clean(f.entry.Address), bold}},
		{{m.o.clock(f.entry.At) + "  " + m.o.Clean(f.entry.Words()), dim}},
		{},
	}
	lines = append(lines, wrapped("Files and conversation as they were then, in a workspace of its own. "+m.o.Clean(f.entry.MissionName)+" is left as it is.", width, plain)...)
	lines = append(lines, line{}, line{{"name: ", dim}, {name, plain}})
	for i, text := range then {
		if f.launch == (i == 1) {
			lines = append(lines, line{{"[x] " + text, bold}})
		} else {
			lines = append(lines, line{{"[ ] " + text, plain}})
		}
	}
	if f.err != nil {
		lines = append(append(lines, line{}), errorLines(f.err, width, m.o.Clean)...)
	}
	switch {
	case f.doing:
		return append(lines, line{}, line{{"working …", bold}})
	case f.asks():
		lines = append(lines, line{}, line{{chosen(f.copies) + "ctrl+y", bold}, {"  copies them all the same", plain}}, line{{chosen(f.skips) + "ctrl+n", bold}, {"  leaves ignored files out", plain}})
	}
	return lines
}

// chosen marks what was chosen.
func chosen(is bool) string {
	if is {
		return "[x] "
	}
	return "[ ] "
}

func (f forking) keys(*model) string {
	if f.doing {
		return "it is being done"
	}
	return "enter makes it  tab launch or not  esc goes back  ctrl+u empties the name"
}
