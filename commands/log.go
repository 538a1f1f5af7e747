package commands

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

type logOptions struct {
	limit                     int
	since, state, path, match string
	graph, all, ops, said     bool
	changes                   changeOptions
}

func logCommand() *verb {
	var o logOptions
	return &verb{
		name: "log", args: "[MISSION]", max: 1, short: "list a mission's snapshots, newest first, by turn",
		long: `Each line begins with an address that can be typed: umbra show, diff, restore and
fork take it. A terminal that is narrow is not told ids, states and triggers.`,
		flags: append([]cli.Flag{
			&cli.IntFlag{Name: "n", Usage: "no more than `N`", Destination: &o.limit},
			&cli.StringFlag{Name: "since", Usage: "not older than `TIME`: 10m, 2h, 3d, 2026-01-31", Destination: &o.since},
			&cli.StringFlag{Name: "state", Usage: "those in `STATE`", Destination: &o.state},
			&cli.StringFlag{Name: "path", Usage: "those that changed `PATH`, by the names that it had", Destination: &o.path},
			&cli.StringFlag{Name: "grep", Usage: "those whose message matches `RE`", Destination: &o.match},
			&cli.BoolFlag{Name: "graph", Usage: "the missions forked from it as well, as branches from where they forked", Destination: &o.graph},
			&cli.BoolFlag{Name: "all", Usage: "every mission of the project", Destination: &o.all},
			&cli.BoolFlag{Name: "ops", Usage: "only Umbra's own operations", Destination: &o.ops},
			&cli.BoolFlag{Name: "conversation", Usage: "what was said in each turn", Destination: &o.said},
		}, o.changes.flags()...),
		run: func(c *call) error { return runLog(c, o) },
	}
}

func runLog(c *call, o logOptions) error {
	states, err := parseStates(o.state)
	if err != nil {
		return err
	}
	if len(states) > 1 {
		return missions.Errorf(missions.KindUsage, "name one state", "--state is %q", o.state)
	}
	if err := o.changes.check(); err != nil {
		return err
	}
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	list, err := svc.Log(ctx, missions.LogRequest{
		Caller: caller, Mission: c.arg(0), Limit: o.limit, Since: o.since, State: missions.StateName(o.state),
		Path: o.path, Grep: o.match, Ops: o.ops, Graph: o.graph, All: o.all, Lines: true,
		Changes: o.changes.any(), Patch: o.changes.lines(), WithConversation: o.said,
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return c.printJSON(listed(list))
	}
	unpaired := 0
	for _, e := range list {
		unpaired += e.Unpaired
	}
	defer c.sayUnpaired(unpaired)
	if len(list) == 0 {
		c.notice("no snapshot matches")
		return nil
	}
	if !o.graph {
		return c.paged("log", func(p *printer) { writeLog(p, list, o) })
	}
	family, err := svc.Missions(ctx, missions.MissionsRequest{Caller: caller})
	if err != nil {
		return err
	}
	return c.paged("log", func(p *printer) { writeGraph(p, list, family, o) })
}

// logWidths keep one wide cell of changes from pushing every message aside.
func logWidths(cells int) []int {
	most := make([]int, cells)
	most[cells-2] = 18
	return most
}

// writeLog prints snapshots under the turns they belong to.
func writeLog(p *printer, list []missions.Entry, o logOptions) {
	var t table
	for at := 0; at < len(list); {
		end := at + 1
		for end < len(list) && list[end].Turn == list[at].Turn && list[end].Mission == list[at].Mission {
			end++
		}
		begins, from := len(t.rows), at
		for _, e := range list[at:end] {
			t.rows = append(t.rows, o.row(p, e))
		}
		t.rows[begins].before = func(p *printer) {
			if from > 0 {
				p.line("")
			}
			writeChapter(p, list, from, end, o)
		}
		at = end
	}
	if len(t.rows) > 0 {
		t.most = logWidths(len(t.rows[0].cells))
	}
	t.print(p, "  ")
}

// row is a snapshot's line; a narrow terminal has what happened below it.
func (o logOptions) row(p *printer, e missions.Entry) tableRow {
	cells, more := logRow(p, e), lostBefore(e, o.more(e, "  "))
	if !p.terminal || p.width >= widthForOneLine {
		return tableRow{cells: cells, after: more}
	}
	last := len(cells) - 1
	return tableRow{cells: cells[:last], after: func(p *printer) {
		p.line("    %s", p.rest(cells[last].text, "    "))
		if more != nil {
			more(p)
		}
	}}
}

// whole reports whether turns are listed with all of their snapshots: of others it is
// not known what they took.
func (o logOptions) whole() bool { return o.path == "" && o.match == "" && o.state == "" && !o.ops }

// leastPrompt is how much of a prompt is worth more than what its turn took.
const leastPrompt = 12

// writeChapter prints the heading of the turn in list[at:end], and what was said.
func writeChapter(p *printer, list []missions.Entry, at, end int, o logOptions) {
	title := fmt.Sprintf("turn %d", list[at].Turn)
	if o.all {
		title = list[at].MissionName + " " + title
	}
	took := ""
	if o.whole() {
		took = used(list, at, end)
		if p.terminal {
			took = lasted(list[at:end]) + took
		}
	}
	title = clean(title)
	if p.terminal {
		if !p.fits(title + took + strings.Repeat(" ", leastPrompt)) {
			took = "" // what was asked for says more
		}
		if said := promptOf(list[at:end]); said != "" {
			title += "  " + p.rest(said, title, "  ", took)
		}
	}
	p.line("%s%s", p.paint(bold, title), p.paint(dim, took))
	for _, e := range list[at:end] {
		if len(e.ConversationLines) > 0 {
			writeConversation(p, e.ConversationLines)
			p.line("")
		}
	}
}

// promptOf is what a turn's user asked for, "" if no prompt began it.
func promptOf(turn []missions.Entry) string {
	for _, e := range turn {
		if e.Prompt != "" {
			return clean(e.Prompt)
		}
		if said, ok := strings.CutPrefix(e.Message, "prompt: "); ok && slices.Contains(e.Triggers, string(missions.TriggerPrompt)) {
			return clean(said)
		}
	}
	return ""
}

// lasted is how long a turn took, "" where one of its ends is not listed.
func lasted(turn []missions.Entry) string {
	var began, ended time.Time
	for _, e := range turn {
		if slices.Contains(e.Triggers, string(missions.TriggerPrompt)) {
			began = e.At
		}
		if slices.Contains(e.Triggers, string(missions.TriggerIdle)) && ended.IsZero() {
			ended = e.At
		}
	}
	if took := ended.Sub(began).Round(time.Second); !began.IsZero() && took >= time.Second {
		return "  " + took.String()
	}
	return ""
}

// more prints what else was asked for of a snapshot, nil if there is nothing.
func (o logOptions) more(e missions.Entry, indent string) func(*printer) {
	switch {
	case !o.changes.any():
		return nil
	case e.Parent == "":
		return func(p *printer) {
			p.line("%s  (all that was there: %s)", indent, count(e.Files.Added, "file"))
		}
	case len(e.Changed) == 0:
		return nil
	}
	return func(p *printer) {
		if o.changes.lines() || o.changes.nameStatus {
			o.changes.write(p, e.Parent, e.Changed, e.Patch)
			p.line("")
			return
		}
		writeCounts(p, indent+"  ", e.Changed)
	}
}

// lostBefore prints, after what more there is of a snapshot, that the one before it is
// lost.
func lostBefore(e missions.Entry, more func(*printer)) func(*printer) {
	if e.LostBefore == "" {
		return more
	}
	said := "  -- the snapshot before, " + short(e.LostBefore) + ", is lost"
	if e.Parent == "" {
		said += ", and all before it"
	}
	return func(p *printer) {
		if more != nil {
			more(p)
		}
		p.line("%s", p.paint(dim, said))
	}
}

// writeGraph prints snapshots beside the lines of their histories.
func writeGraph(p *printer, list []missions.Entry, family []missions.Mission, o logOptions) {
	g, heads := newGraph(list, family), map[string][]string{}
	for _, m := range family {
		heads[m.Head] = append(heads[m.Head], m.Name)
	}
	var t table
	for _, e := range list {
		lane, above := g.next(e.ID)
		if names := heads[e.ID]; len(names) > 0 {
			e.Message = "(" + strings.Join(names, ", ") + ") " + e.Message
		}
		cells := slices.Concat([]cell{{lane, plain}}, logRow(p, e))
		row := tableRow{cells: cells, after: lostBefore(e, o.more(e, ""))}
		if len(above) > 0 {
			row.before = func(p *printer) { p.line("%s", strings.Join(above, "\n")) }
		}
		t.rows = append(t.rows, row)
		t.most = logWidths(len(cells))
	}
	t.print(p, "")
}

// used is what the turn in list[at:end] took, as far as it is known.
func used(list []missions.Entry, at, end int) string {
	took, _ := missions.TurnTally(list, at, end)
	var parts []string
	if n := took.Tools; n > 0 {
		parts = append(parts, count(n, "tool"))
	}
	if n := took.Input + took.Output; n > 0 {
		parts = append(parts, short1000(n)+" tokens")
	}
	if took.Cost >= 0.005 {
		parts = append(parts, fmt.Sprintf("$%.2f", took.Cost))
	}
	if n := took.Compactions; n > 0 {
		parts = append(parts, "compacted")
	}
	if len(parts) == 0 {
		return ""
	}
	return "  " + strings.Join(parts, ", ")
}

// How wide a terminal must be for a snapshot on one line, for ids, and for states
// and triggers.
const (
	widthForOneLine = 60
	widthForIDs     = 100
	widthForStates  = 130
)

// logRow is a snapshot's line: all of it off a terminal, what fits on one.
func logRow(p *printer, e missions.Entry) []cell {
	marks := ""
	for _, pin := range e.Pins {
		marks += " [" + pin + "]"
	}
	if e.Partial {
		marks += " (partial)"
	}
	if e.Late {
		marks += " (late)"
	}
	if e.RenamedFrom != "" {
		marks += " (renamed from " + quotePath(e.RenamedFrom) + ")"
	}
	row, fits := []cell{{clean(e.Address), cyan}}, func(width int) bool { return !p.terminal || p.width >= width }
	if fits(widthForIDs) {
		row = append(row, cell{short(e.ID), yellow})
	}
	row = append(row, cell{p.when(e.At), dim})
	if fits(widthForStates) {
		row = append(row, cell{string(e.State), stateStyle(e.State)}, cell{strings.Join(e.Triggers, " "), plain})
	} else if e.State == missions.StateError || e.State == missions.StateWaiting {
		marks += " (" + string(e.State) + ")"
	}
	changed := changes(e)
	if p.terminal {
		changed = changesShort(e)
	}
	return append(row, cell{changed, green}, cell{clean(e.Message + marks), plain})
}

// changesShort is changes with numbers as people read them.
func changesShort(e missions.Entry) string {
	n := e.Files.Added + e.Files.Modified + e.Files.Deleted
	switch {
	case n == 0:
		return "-"
	case e.Lines == nil:
		return count(n, "file")
	case n == 1:
		return fmt.Sprintf("+%s −%s", short1000(int64(e.Lines.Added)), short1000(int64(e.Lines.Deleted)))
	}
	return fmt.Sprintf("+%s −%s %s", short1000(int64(e.Lines.Added)), short1000(int64(e.Lines.Deleted)), count(n, "file"))
}

// changes is what a snapshot changed, in short.
func changes(e missions.Entry) string {
	n := e.Files.Added + e.Files.Modified + e.Files.Deleted
	if n == 0 {
		return "-"
	}
	s := count(n, "file")
	if e.Lines != nil {
		s = fmt.Sprintf("+%d −%d ", e.Lines.Added, e.Lines.Deleted) + s
	}
	return s
}
