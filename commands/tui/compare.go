package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/umbra-vcs/umbra/missions"
)

// comparing shows what two forks have done since their fork points, beside each other.
type comparing struct {
	id    int // tells its answer from those to others
	names [2]string
	forks []missions.ComparedFork // none while they are being read
}

// compared is what two forks have done, or why that can't be told.
type compared struct {
	id    int
	forks []missions.ComparedFork
	err   error
}

// compareForks asks what the two forks that are meant have done.
func compareForks(m *model) tea.Cmd {
	ids, isPair := m.missions.pair()
	if !isPair {
		m.say("space marks a fork; d compares two that are marked, or the marked one with the one that is shown")
		return nil
	}
	m.asked++
	c := comparing{id: m.asked, names: [2]string{m.missions.find(ids[0]).Name, m.missions.find(ids[1]).Name}}
	m.lay(c)
	ctx, o := m.ctx, m.o
	return func() tea.Msg {
		for _, id := range ids {
			if o.Stopped == nil { // where none can be taken, the newest one counts
				_, _ = o.Service.Snapshot(ctx, missions.SnapshotRequest{Caller: o.Caller, Mission: id, Message: "before it is compared", OnlyIfChanged: true})
			}
		}
		forks, err := o.Service.Compare(ctx, missions.CompareRequest{Caller: o.Caller, Forks: ids, Patch: true})
		return compared{c.id, forks, err}
	}
}

// take takes an answer, if it is to what is shown.
func (a compared) take(m *model) {
	c, ok := m.overlay.(comparing)
	switch {
	case !ok || c.id != a.id:
	case a.err != nil:
		m.overlay = nil
		m.fail(a.err)
	default:
		c.forks = a.forks
		m.lay(c)
	}
}

// isRead reports whether it is known what the forks have done.
func (c comparing) isRead() bool { return len(c.forks) == len(c.names) }

func (c comparing) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	key := k.String()
	switch {
	case m.scrollOver(key):
	case key == "esc", key == "q":
		m.overlay = nil
	case key == "enter" && c.isRead():
		page, text := m.o.Page, strings.Join(m.o.Differences(c.forks), "\n")+"\n"
		return m.o.release(aside(func() error { return page(text) }), func(err error) tea.Msg { return closed{err: err} })
	}
	return nil
}

func (c comparing) lines(m *model, width int) []line {
	const label = 10
	column := max((width-label)/2, 1)
	cell := func(text string) string {
		text = ansi.Truncate(text, column-1, "…")
		return text + strings.Repeat(" ", max(column-ansi.StringWidth(text), 0))
	}
	row := func(what string, tone style, values [2]string) line {
		return line{{fmt.Sprintf("%-*s", label, what), dim}, {cell(values[0]), tone}, {cell(values[1]), tone}}
	}
	lines := []line{
		{{"from their fork points to their newest snapshots", bold}},
		row("", bold, [2]string{m.o.Clean(c.names[0]), m.o.Clean(c.names[1])}),
	}
	if !c.isRead() {
		return append(lines, line{{"reading …", dim}})
	}
	second := factsOf(c.forks[1].Comparison)
	for i, fact := range factsOf(c.forks[0].Comparison) {
		lines = append(lines, row(fact.name, plain, [2]string{fact.value, second[i].value}))
	}
	if c.forks[0].ForkPoint != c.forks[1].ForkPoint {
		lines = append(lines, line{})
		lines = append(lines, wrapped("They are not of one moment: each is compared with its own fork point.", width, yellow)...)
	}
	shared := c.forks[0].Shared
	if len(shared) > 0 {
		lines = append(lines, line{}, line{{"changed by both", bold}})
	}
	for i, path := range shared {
		if i == mostPlan {
			return append(lines, line{{fmt.Sprintf("  … and %d more", len(shared)-mostPlan), dim}})
		}
		lines = append(lines, wrapped("  "+m.o.Clean(path), width, plain)...)
	}
	return lines
}

// fact is one thing that is told of a fork that is compared.
type fact struct{ name, value string }

// factsOf are what is told of a fork, in one order for all. What is not known is a dash.
func factsOf(c missions.Comparison) []fact {
	took, tokens, cost := "-", "-", "-"
	if c.Seconds != nil {
		took = lasted(time.Duration(*c.Seconds * float64(time.Second)))
	}
	if c.Tokens != nil {
		tokens = metric(*c.Tokens)
	}
	if c.Cost != nil {
		cost = fmt.Sprintf("$%.2f", *c.Cost)
	}
	return []fact{
		{"turns", fmt.Sprint(c.Turns)}, {"time", took}, {"tokens", tokens}, {"cost", cost}, {"files", fmt.Sprint(c.Files)},
		{"lines", fmt.Sprintf("+%d −%d", c.Lines.Added, c.Lines.Deleted)}, {"alone", fmt.Sprint(len(c.Alone))}, {"shared", fmt.Sprint(len(c.Shared))},
	}
}

func (c comparing) keys(*model) string {
	if !c.isRead() {
		return "esc goes back"
	}
	return "enter shows the lines in the pager  j k scroll  esc goes back"
}
