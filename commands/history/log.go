// Package history has the verbs that take, name and look at snapshots: as lists, as patches,
// as files, and by git.
package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
)

type logOptions struct {
	limit                     int
	since, state, path, match string
	graph, all, ops, said     bool
	changes                   changeOptions
}

func Log() *call.Verb {
	var o logOptions
	return &call.Verb{
		Name: "log", Args: "[MISSION]", Max: 1, Short: "list a mission's snapshots, newest first, by turn",
		Long: `Each line begins with an address that can be typed: umbra show, diff, restore and
fork take it. A terminal that is narrow is not told ids, states and triggers.`,
		Flags: append([]flags.Flag{
			flags.Int("n", "no more than `N`", &o.limit),
			flags.String("since", "not older than `TIME`: 10m, 2h, 3d, 2026-01-31", &o.since),
			flags.String("state", "those in `STATE`", &o.state),
			flags.String("path", "those that changed `PATH`, by the names that it had", &o.path),
			flags.String("grep", "those whose message matches `RE`", &o.match),
			flags.Bool("graph", "the missions forked from it as well, as branches from where they forked", &o.graph),
			flags.Bool("all", "every mission of the project", &o.all),
			flags.Bool("ops", "only Umbra's own operations", &o.ops),
			flags.Bool("conversation", "what was said in each turn", &o.said),
		}, o.changes.flags()...),
		Run: func(c *call.Call) error { return runLog(c, o) },
	}
}

func runLog(c *call.Call, o logOptions) error {
	states, err := wording.ParseStates(o.state)
	if err != nil {
		return err
	}
	if len(states) > 1 {
		return missions.Errorf(missions.KindUsage, "name one state", "--state is %q", o.state)
	}
	if err := o.changes.check(); err != nil {
		return err
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	r := missions.LogRequest{
		Caller: caller, Mission: c.Arg(0), Limit: o.limit, Since: o.since, State: cmp.Or(append(states, "")...),
		Path: o.path, Grep: o.match, Ops: o.ops, Graph: o.graph, All: o.all, Lines: true,
		Changes: o.changes.any(), Patch: o.changes.lines(), WithConversation: o.said,
	}
	if c.JSON {
		list, err := svc.Log(ctx, r)
		if err != nil {
			return err
		}
		return c.PrintJSON(call.Listed(list))
	}
	log := partedLog{ask: svc.Log}
	list, rest, err := log.begin(ctx, r, c.Out.Terminal && r.Limit == 0 && !o.graph && !o.all)
	if err != nil {
		return err
	}
	defer func() { sayUnpaired(c, log.unpaired) }()
	if len(list) == 0 {
		c.Notice("no snapshot matches")
		return nil
	}
	if !o.graph {
		return c.PagedInParts("log", func(p *print.Printer) { writeLog(p, list, o) }, rest.writer(o))
	}
	family, err := svc.Missions(ctx, missions.MissionsRequest{Caller: caller})
	if err != nil {
		return err
	}
	return c.Paged("log", func(p *print.Printer) { writeGraph(p, list, family, o) })
}

// logWidths keep one wide cell of changes from pushing every message aside.
func logWidths(cells int) []int {
	most := make([]int, cells)
	most[cells-2] = 18
	return most
}

// writeLog prints snapshots under the turns they belong to.
func writeLog(p *print.Printer, list []missions.Entry, o logOptions) {
	var t print.Table
	for at := 0; at < len(list); {
		end := at + 1
		for end < len(list) && list[end].Turn == list[at].Turn && list[end].Mission == list[at].Mission {
			end++
		}
		begins, from := len(t.Rows), at
		for _, e := range list[at:end] {
			t.Rows = append(t.Rows, o.row(p, e, takenBackMark(e.TakenBack && !e.TurnTakenBack))) // else the heading says it
		}
		t.Rows[begins].Before = func(p *print.Printer) {
			if from > 0 {
				p.Line("")
			}
			writeChapter(p, list, from, end, o)
		}
		at = end
	}
	if len(t.Rows) > 0 {
		t.Most = logWidths(len(t.Rows[0].Cells))
	}
	t.Print(p, "  ")
}

// row is a snapshot's line, with a mark behind its label; a narrow terminal has what happened below it.
func (o logOptions) row(p *print.Printer, e missions.Entry, mark string) print.TableRow {
	cells, more := logRow(p, e, missions.LabelOf(e).String()+mark), lostBefore(e, o.more(e, "  "))
	if !p.Terminal || p.Width >= widthForOneLine {
		return print.TableRow{Cells: cells, After: more}
	}
	last := len(cells) - 1
	return print.TableRow{Cells: cells[:last], After: func(p *print.Printer) {
		p.Line("    %s", p.Rest(cells[last].Text, "    "))
		if more != nil {
			more(p)
		}
	}}
}

// whole reports whether turns are listed with all of their snapshots: of others it is
// not known what they took.
func (o logOptions) whole() bool { return o.path == "" && o.match == "" && o.state == "" && !o.ops }

// leastPrompt is how much of a prompt is worth more than what its turn took.
const leastPrompt = 40

// mostPrompt is how much of a prompt is printed off a terminal: it may be a pasted log.
const mostPrompt = 200

// writeChapter prints the heading of the turn in list[at:end], and what was said.
func writeChapter(p *print.Printer, list []missions.Entry, at, end int, o logOptions) {
	title := fmt.Sprintf("turn %d", list[at].Turn)
	if o.all {
		title = list[at].MissionName + " " + title
	}
	took := ""
	if o.whole() {
		took = turnUsage(list, at, end)
		if p.Terminal {
			took = lasted(list[at:end]) + took
		}
	}
	title = print.Clean(title) + takenBackMark(list[at].TurnTakenBack)
	said := promptOf(list[at:end])
	if !p.Fits(title + took + "  " + print.Cut(said, leastPrompt)) {
		took = "" // what was asked for says more
	}
	switch {
	case said == "":
	case p.Terminal:
		title += "  " + p.Rest(said, title, "  ", took)
	default:
		title += "  " + print.Cut(said, mostPrompt)
	}
	p.Line("%s%s", p.Paint(print.Bold, title), p.Paint(print.Dim, took))
	for _, e := range list[at:end] {
		if len(e.ConversationLines) > 0 {
			wording.Conversation(p, e.ConversationLines)
			p.Line("")
		}
	}
}

func takenBackMark(is bool) string {
	if is {
		return " (taken back)"
	}
	return ""
}

// promptOf is what a turn's user asked for, "" if no prompt began it.
func promptOf(turn []missions.Entry) string {
	for _, e := range turn {
		if e.Prompt != "" {
			return print.Clean(missions.PromptLine(e.Prompt))
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
func (o logOptions) more(e missions.Entry, indent string) func(*print.Printer) {
	switch {
	case !o.changes.any():
		return nil
	case e.Parent == "":
		return func(p *print.Printer) {
			p.Line("%s  (all that was there: %s)", indent, print.Count(e.Files.Added, "file"))
		}
	case len(e.Changed) == 0:
		return nil
	}
	return func(p *print.Printer) {
		if o.changes.lines() || o.changes.nameStatus {
			o.changes.write(p, e.Parent, e.Changed, e.Patch)
			p.Line("")
			return
		}
		writeCounts(p, indent+"  ", e.Changed)
	}
}

// lostBefore prints, after what more there is of a snapshot, that the one before it is
// lost.
func lostBefore(e missions.Entry, more func(*print.Printer)) func(*print.Printer) {
	if e.LostBefore == "" {
		return more
	}
	said := "  -- the snapshot before, " + print.Short(e.LostBefore) + ", is lost"
	if e.Parent == "" {
		said += ", and all before it"
	}
	if !e.PrunedAt.IsZero() {
		said = "  -- older snapshots were pruned on " + e.PrunedAt.Local().Format(time.DateOnly)
	}
	return func(p *print.Printer) {
		if more != nil {
			more(p)
		}
		p.Line("%s", p.Paint(print.Dim, said))
	}
}

// writeGraph prints snapshots beside the lines of their histories.
func writeGraph(p *print.Printer, list []missions.Entry, family []missions.Mission, o logOptions) {
	g, heads := newGraph(list, family), map[string][]string{}
	for _, m := range family {
		heads[m.Head] = append(heads[m.Head], m.Name)
	}
	var t print.Table
	for _, e := range list {
		lane, above := g.next(e.ID)
		text := e.Words() + takenBackMark(e.TakenBack)
		if names := heads[e.ID]; len(names) > 0 {
			text = "(" + strings.Join(names, ", ") + ") " + text
		}
		cells := slices.Concat([]print.Cell{print.Plain.Cell(lane)}, logRow(p, e, text))
		row := print.TableRow{Cells: cells, After: lostBefore(e, o.more(e, ""))}
		if len(above) > 0 {
			row.Before = func(p *print.Printer) { p.Line("%s", strings.Join(above, "\n")) }
		}
		t.Rows = append(t.Rows, row)
		t.Most = logWidths(len(cells))
	}
	t.Print(p, "")
}

// turnUsage is what the turn in list[at:end] took, as far as it is known.
func turnUsage(list []missions.Entry, at, end int) string {
	took, _ := missions.TurnTally(list, at, end)
	var parts []string
	if n := took.Tools; n > 0 {
		parts = append(parts, print.Count(n, "tool"))
	}
	if n := took.Input + took.Output; n > 0 {
		parts = append(parts, print.Thousands(n)+" tokens")
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

// logRow is a snapshot's line, with a text: all of it off a terminal, what fits on one.
func logRow(p *print.Printer, e missions.Entry, text string) []print.Cell {
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
		marks += " (renamed from " + print.Path(e.RenamedFrom) + ")"
	}
	row, fits := []print.Cell{print.Cyan.Cell(print.Clean(e.Address))}, func(width int) bool { return !p.Terminal || p.Width >= width }
	if fits(widthForIDs) {
		row = append(row, print.Yellow.Cell(print.Short(e.ID)))
	}
	row = append(row, print.Dim.Cell(p.When(e.At)))
	if fits(widthForStates) {
		row = append(row, wording.StateStyle(e.State).Cell(e.StateWords()), print.Plain.Cell(strings.Join(e.Triggers, " ")))
	} else if e.State == missions.StateError || e.State == missions.StateWaiting {
		marks += " (" + string(e.State) + ")"
	}
	changed := wording.Changes(e)
	if p.Terminal {
		changed = changesShort(e)
	}
	return append(row, wording.ChangesStyle(e).Cell(changed), print.Plain.Cell(print.Clean(text+marks)))
}

// changesShort is changes with numbers as people read them.
func changesShort(e missions.Entry) string {
	n := e.Files.Added + e.Files.Modified + e.Files.Deleted
	switch {
	case n == 0:
		return "-"
	case e.Lines == nil:
		return print.Count(n, "file")
	case n == 1:
		return fmt.Sprintf("+%s −%s", print.Thousands(int64(e.Lines.Added)), print.Thousands(int64(e.Lines.Deleted)))
	}
	return fmt.Sprintf("+%s −%s %s", print.Thousands(int64(e.Lines.Added)), print.Thousands(int64(e.Lines.Deleted)), print.Count(n, "file"))
}
