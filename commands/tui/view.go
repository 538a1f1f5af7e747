package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/umbra-vcs/umbra/missions"
)

// View is the screen.
func (m model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen, v.MouseMode = true, tea.MouseModeCellMotion
	v.WindowTitle = "umbra timeline"
	return v
}

// screen is the screen as text, height lines of exactly the width, if that is large
// enough for any.
func (m *model) screen() string {
	if m.width < 10 || m.height < 4 {
		return ansi.Truncate("too small", m.width, "")
	}
	lines := m.body()
	if m.overlay != nil {
		lines = m.over(lines)
	}
	foot := m.foot()
	lines = lines[:max(len(lines)-len(foot)+1, 0)]
	return strings.Join(append(append([]string{m.title()}, lines...), foot...), "\n")
}

// body is the panes.
func (m *model) body() []string {
	l := m.layout()
	h := max(m.height-2, 0)
	lines := make([]string, h)
	if l.rows.w+l.missions.w == m.width && l.details.w == m.width { // above each other
		upper := m.missions.lines(l.missions, m.focus == inMissions, m.o.Words)
		if l.rows.w > 0 {
			upper = m.rowLines(l.rows)
		}
		return append(upper, m.detailLines(l.details)...)
	}
	for _, pane := range [][]string{m.missions.lines(l.missions, m.focus == inMissions, m.o.Words), m.rowLines(l.rows), m.detailLines(l.details)} {
		for i, text := range pane {
			if i >= h {
				break
			}
			if lines[i] != "" {
				lines[i] += paint(dim, "│")
			}
			lines[i] += text
		}
	}
	return lines
}

// title names the project and the mission.
func (m *model) title() string {
	at := m.at()
	l := line{{" umbra ", reverse}, {" ", plain}}
	if at.ID == "" {
		return append(l, span{"timeline", bold}).render(m.width, false)
	}
	l = append(l, span{m.o.Clean(at.Name), bold}, span{"  " + stateText(at), stateStyle(at.State)},
		span{fmt.Sprintf("  turn %d", at.Turn), plain}, span{fmt.Sprintf("  %s", m.o.Count(len(m.history.entries), "snapshot")), dim})
	if !m.history.done {
		l = append(l, span{"…", dim})
	}
	if warning := m.missions.radar.warning(at.Name, m.o.Words); warning != "" {
		l = append(l, span{"  ! " + warning, yellow})
	}
	if m.filter.typed != "" {
		l = append(l, span{"  /" + m.o.Clean(m.filter.typed), magenta})
	}
	l = append(l, span{"  " + m.o.Place(at.Workspace), dim})
	return l.render(m.width, false)
}

// foot is the last line: a note, or the keys. A note that is too long for a line covers
// what is above it, since its end says what to type.
func (m *model) foot() []string {
	if m.note != "" {
		tone := green
		if m.problem {
			tone = red
		}
		var lines []string
		for _, l := range wrapped(m.note, m.width, tone) {
			lines = append(lines, l.render(m.width, false))
		}
		return lines[:min(len(lines), m.height-2)]
	}
	keys := hints(m.width, "? help", "q quit", "/ filter", "enter restore", "f fork", "c conversation", "d diff", "u undo", "o open", "tab panes", "space mark", "z fold", "p pin")
	switch {
	case m.overlay != nil:
		keys = m.overlay.keys(m)
	case m.focus == inMissions:
		keys = hints(m.width, "? help", "P promote", "s stop", "r resume", "R rename", "x remove", "t report", "d compare", "space mark", "C contest", "q quit")
	case m.focus == inDetails:
		keys = hints(m.width, "? help", "q quit", "enter restore", "space mark a path", "c conversation", "tab panes", "o open", "O edit")
	}
	return []string{line{{keys, dim}}.render(m.width, false)}
}

// hints are as many keys as fit, whole: the others are in the help.
func hints(width int, keys ...string) string {
	text := ""
	for i, k := range keys {
		if i > 0 {
			k = "  " + k
		}
		if ansi.StringWidth(text+k) > width {
			break
		}
		text += k
	}
	return text
}

// heading is the first line of a pane.
func heading(text string, focused bool, width int) string {
	tone := dim
	if focused {
		tone, text = bold, "▌"+text
	} else {
		text = " " + text
	}
	return line{{text, tone}}.render(width, false)
}

// fill makes so many lines of a pane.
func fill(lines []string, r rect) []string {
	for len(lines) < r.h {
		lines = append(lines, strings.Repeat(" ", r.w))
	}
	return lines[:r.h]
}

func (m *model) rowLines(r rect) []string {
	if r.w == 0 || r.h == 0 {
		return nil
	}
	lines := []string{heading("snapshots", m.focus == inRows, r.w)}
	for i := m.top; i < len(m.rows) && len(lines) < r.h; i++ {
		lines = append(lines, m.rowLine(m.rows[i], i == m.cursor, r.w).render(r.w, i == m.cursor && m.focus == inRows))
	}
	if m.history.failed != nil && len(lines) < r.h {
		lines = append(lines, line{{"✗ not read further; ctrl+r reads on", red}}.render(r.w, false))
	} else if len(m.rows) == 0 {
		lines = append(lines, line{{m.emptiness(), dim}}.render(r.w, false))
	}
	return fill(lines, r)
}

// emptiness says why there are no rows.
func (m *model) emptiness() string {
	switch {
	case m.at().ID == "":
		return " no missions here yet; begin one with: umbra mission new"
	case !m.history.done:
		return " reading …"
	case m.filter.typed != "":
		return " nothing matches; esc shows all"
	}
	return " no snapshots"
}

func (m *model) rowLine(r row, here bool, width int) line {
	point := " "
	if here {
		point = ">"
	}
	if r.key.turn {
		return append(line{{point, plain}, {r.lanes, magenta}}, m.chapterLine(r, width-1-ansi.StringWidth(r.lanes))...)
	}
	e := m.history.entries[r.entry]
	mark := " "
	if slices.Contains(m.marks, e.ID) {
		mark = "*"
	}
	sign, tone := signOf(e)
	l := line{{point, plain}, {r.lanes, magenta}, {mark + " ", plain}, {sign + " ", tone}, {m.clock(e.At), dim}, {" ", plain}}
	for _, pin := range e.Pins {
		l = append(l, span{"[" + m.o.Clean(pin) + "] ", magenta})
	}
	for _, f := range m.missions.all {
		if f.Parent != nil && f.Parent.Snapshot == e.ID {
			l = append(l, span{"→ " + m.o.Clean(f.Name) + " ", cyan})
		}
	}
	l = append(l, labelSpans(e, m.o.Words)...)
	if e.Partial {
		l = append(l, span{" (partial)", dim})
	}
	if e.Late {
		l = append(l, span{" (late)", dim})
	}
	if e.RenamedFrom != "" {
		l = append(l, span{" (renamed from " + m.o.Clean(e.RenamedFrom) + ")", cyan})
	}
	return l
}

// labelSpans are what made a snapshot's change, how large that is, and what comes next.
func labelSpans(e missions.Entry, o Words) line {
	label := missions.LabelOf(e)
	l := line{{o.Clean(cmp.Or(label.Made, label.Then)), plain}}
	if n := e.Files.Added + e.Files.Modified + e.Files.Deleted; n > 0 {
		l = append(l, span{" " + sum(e.Lines, n, o), green})
	}
	if label.Made != "" && label.Then != "" {
		l = append(l, span{" · " + o.Clean(label.Then), dim})
	}
	return l
}

// leastPrompt is the width that a prompt keeps, in columns, however many facts of its
// turn follow it.
const leastPrompt = 40

// chapterLine is a turn's heading: what was asked for, then what fits.
func (m *model) chapterLine(r row, width int) line {
	sign := "▾ "
	if r.folded {
		sign = "▸ "
	}
	name, prompt := fmt.Sprintf("turn %d", r.turn.n), m.o.Clean(r.prompt)
	if r.turn.n == 0 {
		name = "start"
	}
	l := line{{sign, dim}, {name, bold}}
	if m.at().ID != r.turn.mission {
		name := m.missions.find(r.turn.mission).Name
		if name == "" {
			name = m.o.Short(r.turn.mission)
		}
		l = append(l, span{" of " + m.o.Clean(name), cyan})
	}
	room := width - l.columns()
	var facts line
	for _, fact := range m.chapterFacts(r) {
		if facts.columns()+ansi.StringWidth(fact.text)+min(ansi.StringWidth(prompt), leastPrompt)+2 <= room {
			facts = append(facts, fact)
		}
	}
	if prompt != "" {
		l = append(l, span{"  " + ansi.Truncate(prompt, max(room-facts.columns()-2, 1), "…"), bold})
	}
	return append(l, facts...)
}

// chapterFacts are what is known of a turn beside its prompt, the most telling first.
func (m *model) chapterFacts(r row) (facts line) {
	add := func(text string, tone style) { facts = append(facts, span{"  " + text, tone}) }
	switch {
	case r.files == 0 || r.turn.n == 0:
	case r.uncounted:
		add(m.o.Count(r.files, "file"), green)
	default:
		add(fmt.Sprintf("+%d −%d", r.lines.Added, r.lines.Deleted), green)
	}
	if r.folded {
		add(m.o.Count(r.snapshots, "snapshot"), dim)
	}
	if r.lasted > 0 {
		add(lasted(r.lasted), dim)
	}
	if r.turn.n > 0 && !r.began.IsZero() {
		add(m.clock(r.began), dim)
	}
	if r.spent != "" {
		add(r.spent, dim)
	}
	return facts
}

// clock is a time of today, or a day and a time.
func (m *model) clock(t time.Time) string {
	now := m.o.Now()
	t = t.In(now.Location())
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("Jan 02 15:04")
}

// signOf tells snapshots apart at a glance, in one colour too.
func signOf(e missions.Entry) (string, style) {
	last := ""
	if len(e.Triggers) > 0 {
		last = e.Triggers[0]
	}
	switch missions.Trigger(last) {
	case missions.TriggerPrompt:
		return "»", cyan
	case missions.TriggerTool:
		return "·", yellow
	case missions.TriggerIdle:
		if e.IsCutOff() {
			return "⊘", yellow
		}
		return "✓", green
	case missions.TriggerError:
		return "✗", red
	case missions.TriggerManual:
		return "◆", magenta
	case missions.TriggerRestore, missions.TriggerPromote, missions.TriggerMerge, missions.TriggerUndo, missions.TriggerRedo:
		return "↶", magenta
	case missions.TriggerFork:
		return "└", cyan
	case missions.TriggerClose:
		return "■", dim
	}
	return "○", plain
}

func sum(lines *missions.LineCounts, files int, o Words) string {
	switch {
	case lines == nil:
		return o.Count(files, "file")
	case files == 1:
		return fmt.Sprintf("+%d −%d", lines.Added, lines.Deleted)
	}
	return fmt.Sprintf("+%d −%d %s", lines.Added, lines.Deleted, o.Count(files, "file"))
}

func lasted(d time.Duration) string {
	if d < time.Second {
		return "<1s"
	}
	return d.Round(time.Second).String()
}

func (m *model) detailLines(r rect) []string {
	if r.w == 0 || r.h == 0 {
		return nil
	}
	d := &m.details
	title := "changes"
	if d.talking {
		title = "conversation"
	}
	if n := len(d.lines); n > r.h-1 {
		title += fmt.Sprintf("  %d%%", 100*min(d.top+r.h-1, n)/n)
	}
	lines := []string{heading(title, m.focus == inDetails, r.w)}
	for i := d.top; i < len(d.lines) && len(lines) < r.h; i++ {
		lines = append(lines, d.lines[i].render(r.w, i == d.pointer && m.focus == inDetails && !d.talking))
	}
	if !d.have && len(m.rows) > 0 {
		lines = append(lines, line{{"reading …", dim}}.render(r.w, false))
	}
	return fill(lines, r)
}
