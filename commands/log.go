package commands

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

type logOptions struct {
	limit                     int
	since, state, path, match string
	graph, ops                bool
}

func logCommand() *verb {
	var o logOptions
	return &verb{
		name: "log", args: "[MISSION]", max: 1, short: "list a mission's snapshots, newest first, by turn",
		long: "Each line begins with an address that can be typed: umbra show, diff, restore and fork take it.",
		flags: []cli.Flag{
			&cli.IntFlag{Name: "n", Usage: "no more than `N`", Destination: &o.limit},
			&cli.StringFlag{Name: "since", Usage: "not older than `TIME`: 10m, 2h, 3d, 2026-01-31", Destination: &o.since},
			&cli.StringFlag{Name: "state", Usage: "those in `STATE`", Destination: &o.state},
			&cli.StringFlag{Name: "path", Usage: "those that changed `PATH`", Destination: &o.path},
			&cli.StringFlag{Name: "grep", Usage: "those whose message matches `RE`", Destination: &o.match},
			&cli.BoolFlag{Name: "graph", Usage: "the missions forked from it as well", Destination: &o.graph},
			&cli.BoolFlag{Name: "ops", Usage: "only Umbra's own operations", Destination: &o.ops},
		},
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
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	list, err := svc.Log(ctx, missions.LogRequest{
		Caller: caller, Mission: c.arg(0), Limit: o.limit, Since: o.since, State: missions.StateName(o.state),
		Path: o.path, Grep: o.match, Ops: o.ops, Graph: o.graph, Lines: true,
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return c.printJSON(listed(list))
	}
	return c.paged(func(p *printer) { writeLog(p, list, o.graph) })
}

// writeLog prints snapshots under the turns they belong to.
func writeLog(p *printer, list []missions.Entry, graph bool) {
	for at := 0; at < len(list); {
		end := at + 1
		for end < len(list) && list[end].Turn == list[at].Turn && list[end].Mission == list[at].Mission {
			end++
		}
		if at > 0 {
			p.line("")
		}
		e := list[at]
		title := fmt.Sprintf("turn %d", e.Turn)
		if graph {
			title = e.Name + " " + title
		}
		p.line("%s%s", p.paint(bold, clean(title)), p.paint(dim, used(list, at, end)))
		var t table
		for _, e := range list[at:end] {
			t.row(logRow(p, e)...)
		}
		t.print(p, "  ")
		at = end
	}
}

// used is what the turn in list[at:end] took, as far as it is known: what the
// conversation says after it, less what it says after the one before.
func used(list []missions.Entry, at, end int) string {
	if end >= len(list) || list[at].Conversation == nil || list[at].Mission != list[end].Mission {
		return ""
	}
	now, before := *list[at].Conversation, missions.Tally{}
	switch {
	case list[end].Conversation != nil:
		before = *list[end].Conversation
	case list[end].Turn > 0:
		return ""
	}
	if now.Prompts < before.Prompts || now.Tools < before.Tools {
		return "" // it was restored, or begins anew
	}
	var parts []string
	if n := now.Tools - before.Tools; n > 0 {
		parts = append(parts, count(n, "tool"))
	}
	if n := now.Input + now.Output - before.Input - before.Output; n > 0 {
		parts = append(parts, short1000(n)+" tokens")
	}
	if cost := now.Cost - before.Cost; cost >= 0.005 {
		parts = append(parts, fmt.Sprintf("$%.2f", cost))
	}
	if n := now.Compactions - before.Compactions; n > 0 {
		parts = append(parts, "compacted")
	}
	if len(parts) == 0 {
		return ""
	}
	return "  " + strings.Join(parts, ", ")
}

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
	return []cell{
		{clean(e.Address), cyan}, {short(e.ID), yellow}, {p.when(e.At), dim}, {string(e.State), stateStyle(e.State)},
		{strings.Join(e.Triggers, " "), plain}, {changes(e), green}, {clean(e.Message + marks), plain},
	}
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
