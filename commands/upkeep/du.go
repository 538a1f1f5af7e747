package upkeep

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
)

func Du() *call.Verb {
	return &call.Verb{
		Name: "du", Short: "say what Umbra takes on the disk, and what could be given back",
		Long: `By project and mission: what is stored of one alone, and what several share. Files
that are borrowed from your repositories take nothing. What could be given back comes last,
with what to type: old snapshots, the trash, workspaces of forks whose agent has ended.
umbra prune --dry-run lists the snapshots.`,
		Run: runDu,
	}
}

func runDu(c *call.Call) error {
	c.NoDaemon = true // it takes memory that a process which stays would keep
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	u, err := svc.Usage(ctx, missions.UsageRequest{Caller: caller})
	if err != nil {
		return err
	}
	return c.Print(u, func(p *print.Printer) { describeUsage(p, u) })
}

func describeUsage(p *print.Printer, u missions.Usage) {
	var t print.Table
	t.Row(print.Bold.Cell(print.Size(u.Bytes)), print.Bold.Cell("in all, in "+print.Clean(u.Home)))
	for _, project := range u.Projects {
		t.Row(print.Plain.Cell(print.Size(project.Bytes)), print.Bold.Cell("project "+print.Clean(project.Name)+"  "+print.Clean(project.Path)))
		for _, m := range project.Missions {
			what := "  " + print.Clean(m.Name)
			if m.Removed {
				what += " (in the trash)"
			}
			what += ": files " + print.Size(m.Files) + ", conversation and records " + print.Size(m.Records)
			t.Row(print.Plain.Cell(print.Size(m.Files+m.Records)), print.Plain.Cell(what))
		}
		row := func(bytes int64, what string) {
			if bytes > 0 {
				t.Row(print.Dim.Cell(print.Size(bytes)), print.Dim.Cell("  "+what))
			}
		}
		row(project.Shared, "shared by several missions")
		row(project.Double, "stored twice until the next housekeeping, as after a git gc of yours")
		row(project.Rest, "what no mission leads to, indexes and directories")
		row(project.Borrowed, "your repository's own, which takes nothing more")
	}
	for _, w := range u.Other {
		t.Row(print.Plain.Cell(print.Size(w.Bytes)), print.Plain.Cell(print.Clean(w.What)))
	}
	for _, w := range u.Workspaces {
		t.Row(print.Plain.Cell(print.Size(w.Bytes)), print.Plain.Cell("beside it: "+print.Clean(w.What)+" in "+print.Clean(w.Path)))
	}
	t.Print(p, "")
	if b := u.Budget; b != nil {
		p.Line("%s", wording.Budget(p, *b))
	}
	if t := u.Tightening; t != nil {
		p.Line("%s", print.Clean(wording.Tightening(p, *t)))
	}
	for _, w := range u.Freeable {
		p.Line("%s could be given back: %s", print.Size(w.Bytes), print.Clean(w.What))
		p.Line("  to type: %s", print.Clean(w.Fix))
	}
	for _, pruning := range u.Prunings {
		p.Line("%s", print.Clean(wording.Pruning(p, pruning)))
	}
	if e := u.TrashExpiry; e != nil {
		p.Line("%s", print.Clean(wording.TrashExpiry(p, *e)))
	}
	if e := u.ForkExpiry; e != nil {
		p.Line("%s", print.Clean(wording.ForkExpiry(p, *e)))
	}
	for _, problem := range u.Problems {
		p.Line("%s %s", p.Paint(print.Red, "problem:"), print.Clean(problem.Message))
	}
}
