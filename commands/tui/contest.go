package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/umbra-vcs/umbra/missions"
)

// contest shows the forks of one contest beside each other, as they are now.
type contest struct {
	of     string // the contest's id
	chosen string // the fork that the keys act on
	heads  string // the forks and their newest snapshots when it was asked what they have done
	done   map[string]missions.ComparedFork
	checks map[string]*missions.Check
}

// contestants is what the forks of a contest have done, or why that can't be told.
type contestants struct {
	heads  string
	forks  []missions.ComparedFork // nil where none has a new snapshot
	checks map[string]*missions.Check
	err    error
}

// showContest shows the contest that a mission is a fork of, else the newest one of its forks.
func showContest(m *model, at missions.Mission) tea.Cmd {
	of := at.Contest
	var newest missions.Mission
	for _, f := range m.missions.all {
		if of == nil && f.Contest != nil && f.Parent != nil && f.Parent.Mission == at.ID && !f.CreatedAt.Before(newest.CreatedAt) {
			newest = f
		}
	}
	if of == nil {
		of = newest.Contest
	}
	if of == nil {
		m.fail(missions.Errorf(missions.KindNotFound, "umbra contest MOMENT begins one", "neither %s nor a fork of it is of a contest", at.Name))
		return nil
	}
	c := contest{of: of.ID}
	c.chosen = c.forks(m)[0].ID
	if at.Contest != nil {
		c.chosen = at.ID
	}
	m.lay(c)
	return c.ask(m)
}

// forks are those of the contest, in the order in which they were made.
func (c contest) forks(m *model) (list []missions.Mission) {
	for _, f := range m.missions.all {
		if f.Contest != nil && f.Contest.ID == c.of {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b missions.Mission) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return list
}

// ask asks what the check says of the forks and, if one has a new snapshot since, what they
// have done.
func (c contest) ask(m *model) tea.Cmd {
	var ids []string
	forks, heads := c.forks(m), ""
	for _, f := range forks {
		ids = append(ids, f.ID)
		heads += f.ID + " " + f.Head + "\n"
	}
	if len(ids) == 0 {
		m.overlay = nil // they were all removed
		return nil
	}
	isNew := heads != c.heads
	c.heads = heads
	m.overlay = c
	ctx, o := m.ctx, m.o
	return func() tea.Msg {
		a := contestants{heads: heads, checks: map[string]*missions.Check{}}
		for _, f := range forks {
			a.checks[f.ID] = o.Checked(f)
		}
		if isNew {
			a.forks, a.err = o.Service.Compare(ctx, missions.CompareRequest{Caller: o.Caller, Forks: ids})
		}
		return a
	}
}

// askContest asks what has become of the contest that is shown.
func askContest(m *model) tea.Cmd {
	if c, isShown := m.overlay.(contest); isShown {
		return c.ask(m)
	}
	return nil
}

// take takes an answer, if nothing newer was asked since.
func (a contestants) take(m *model) {
	c, ok := m.overlay.(contest)
	switch {
	case !ok || c.heads != a.heads:
	case a.err != nil:
		m.fail(a.err)
	default:
		c.checks = a.checks
		if len(a.forks) > 0 {
			c.done = map[string]missions.ComparedFork{}
		}
		for _, f := range a.forks {
			c.done[f.Fork.ID] = f
		}
		m.overlay = c
	}
}

// contestHead is how many lines are above the forks.
const contestHead = 2

func (c contest) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	forks := c.forks(m)
	if len(forks) == 0 { // they were removed meanwhile
		m.overlay = nil
		return nil
	}
	at := slices.IndexFunc(forks, func(f missions.Mission) bool { return f.ID == c.chosen })
	switch key := k.String(); key {
	case "esc", "q":
		m.overlay = nil
		return nil
	case "j", "down":
		at++
	case "k", "up":
		at--
	case "enter", "P":
		if at >= 0 {
			return planPromotion(m, forks[at])
		}
		return nil
	default:
		return nil
	}
	at = max(min(at, len(forks)-1), 0)
	c.chosen = forks[at].ID
	m.overlay = c
	_, h := m.overSize()
	m.above = max(0, at+contestHead+1-h)
	return nil
}

func (c contest) lines(m *model, width int) []line {
	forks := c.forks(m)
	title := "contest"
	if len(forks) > 0 && forks[0].Parent != nil {
		title += " of " + m.o.Clean(m.missions.find(forks[0].Parent.Mission).Name)
	}
	if len(forks) > 0 && forks[0].Contest.Check != "" {
		title += ", checked by " + m.o.Clean(forks[0].Contest.Check)
	}
	const columns = "%-13s %5s %5s %12s  %-8s %7s"
	name := max(width-ansi.StringWidth(fmt.Sprintf(columns, "", "", "", "", "", ""))-3, leastName)
	pad := func(text string) string {
		text = ansi.Truncate(text, name, "…")
		return text + strings.Repeat(" ", name-ansi.StringWidth(text)+1)
	}
	lines := []line{{{title, bold}}, {{"  " + pad("fork") + fmt.Sprintf(columns, "state", "turns", "files", "lines", "check", "cost"), dim}}}
	for _, f := range forks {
		point, tone := "  ", stateStyle(f.State)
		if f.ID == c.chosen {
			point = "> "
		}
		turns, files, changed, cost := "…", "…", "…", "-"
		if done, isKnown := c.done[f.ID]; isKnown {
			turns, files, changed = fmt.Sprint(done.Turns), fmt.Sprint(done.Files), fmt.Sprintf("+%d −%d", done.Lines.Added, done.Lines.Deleted)
			if done.Cost != nil {
				cost = fmt.Sprintf("$%.2f", *done.Cost)
			}
		}
		check := "-"
		if v := c.checks[f.ID]; v != nil {
			check, tone = string(v.State), checkStyle(v.State)
		}
		lines = append(lines, line{{point + pad(m.o.Clean(f.Name)), plain}, {fmt.Sprintf(columns, stateText(f), turns, files, changed, check, cost), tone}})
	}
	return lines
}

func checkStyle(s missions.CheckState) style {
	switch s {
	case missions.CheckGood:
		return green
	case missions.CheckBad:
		return red
	}
	return yellow
}

func (contest) keys(*model) string { return "enter promotes the fork  j k choose  esc goes back" }
