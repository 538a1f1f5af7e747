package tui

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/umbra-vcs/umbra/missions"
)

// listView draws the rows, for which it has to know the missions too.
type listView struct {
	*snapshotList
	missions *missionList
	o        *Options
}

// lines are the pane.
func (v listView) lines(r rect, focused bool) []string {
	if r.w == 0 || r.h == 0 {
		return nil
	}
	lines := []string{heading("snapshots", focused, r.w)}
	for i := v.top; i < len(v.rows) && len(lines) < r.h; i++ {
		lines = append(lines, v.row(v.rows[i], i == v.cursor, r.w).render(r.w, i == v.cursor && focused))
	}
	if v.history.failed != nil && len(lines) < r.h {
		lines = append(lines, line{{"✗ not read further; ctrl+r reads on", red}}.render(r.w, false))
	} else if len(v.rows) == 0 {
		lines = append(lines, line{{v.emptiness(), dim}}.render(r.w, false))
	}
	return fill(lines, r)
}

// emptiness says why there are no rows.
func (v listView) emptiness() string {
	switch {
	case v.missions.at().ID == "":
		return " no missions here yet; begin one with: umbra mission new"
	case !v.history.done:
		return " reading …"
	case v.filter.typed != "":
		return " nothing matches; esc shows all"
	}
	return " no snapshots"
}

func (v listView) row(r row, here bool, width int) line {
	point := " "
	if here {
		point = ">"
	}
	if r.key.turn {
		return append(line{{point, plain}, {r.lanes, magenta}}, v.chapter(r, width-1-ansi.StringWidth(r.lanes))...)
	}
	e := v.history.entries[r.entry]
	mark := " "
	if slices.Contains(v.marks, e.ID) {
		mark = "*"
	}
	sign, tone := signOf(e)
	l := line{{point, plain}, {r.lanes, magenta}, {mark + " ", plain}, {sign + " ", tone}, {v.o.clock(e.At), dim}, {" ", plain}}
	for _, pin := range e.Pins {
		l = append(l, span{"[" + v.o.Clean(pin) + "] ", magenta})
	}
	for _, f := range v.missions.all {
		if f.Parent != nil && f.Parent.Snapshot == e.ID {
			l = append(l, span{"→ " + v.o.Clean(f.Name) + " ", cyan})
		}
	}
	l = append(l, labelSpans(e, v.o.Words)...)
	if e.Partial {
		l = append(l, span{" (partial)", dim})
	}
	if e.Late {
		l = append(l, span{" (late)", dim})
	}
	if e.RenamedFrom != "" {
		l = append(l, span{" (renamed from " + v.o.Clean(e.RenamedFrom) + ")", cyan})
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

// chapter is a turn's heading: what was asked for, then what fits.
func (v listView) chapter(r row, width int) line {
	sign := "▾ "
	if r.folded {
		sign = "▸ "
	}
	digits := len(missions.Itoa(v.missions.at().Turn)) // so that the prompts stand below each other
	name, prompt := fmt.Sprintf("turn %-*d", digits, r.turn.n), v.o.Clean(r.prompt)
	if r.turn.n == 0 {
		name = "start"
	}
	l := line{{sign, dim}, {name, bold}}
	if v.missions.at().ID != r.turn.mission {
		name := v.missions.find(r.turn.mission).Name
		if name == "" {
			name = v.o.Short(r.turn.mission)
		}
		l = append(l, span{" of " + v.o.Clean(name), cyan})
	}
	room := width - l.columns()
	var facts line
	for i, fact := range v.facts(r) {
		if facts.columns()+ansi.StringWidth(fact.text)+min(ansi.StringWidth(prompt), leastPrompt)+2 <= room {
			facts = append(facts, fact)
		} else if i == 0 {
			break // without how large its change is, a turn would look as if it had changed nothing
		}
	}
	if prompt != "" {
		l = append(l, span{"  " + ansi.Truncate(prompt, max(room-facts.columns()-2, 1), "…"), bold})
	}
	return append(l, facts...)
}

// facts are what is known of a turn beside its prompt, the most telling first.
func (v listView) facts(r row) (facts line) {
	add := func(text string, tone style) { facts = append(facts, span{"  " + text, tone}) }
	switch {
	case r.files == 0 || r.turn.n == 0:
	case r.uncounted:
		add(v.o.Count(r.files, "file"), green)
	case r.lines.Added == 0 && r.lines.Deleted > 0:
		add(fmt.Sprintf("+0 −%d", r.lines.Deleted), red)
	default:
		add(fmt.Sprintf("+%d −%d", r.lines.Added, r.lines.Deleted), green)
	}
	if r.folded {
		add(v.o.Count(r.snapshots, "snapshot"), dim)
	}
	if r.lasted > 0 {
		add(lasted(r.lasted), dim)
	}
	if r.turn.n > 0 && !r.began.IsZero() {
		add(v.o.clock(r.began), dim)
	}
	if r.spent != "" {
		add(r.spent, dim)
	}
	return facts
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

// clock is a time of today, or a day and a time.
func (o *Options) clock(t time.Time) string {
	now := o.Now()
	t = t.In(now.Location())
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("Jan 02 15:04")
}
