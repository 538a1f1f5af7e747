package commands

import "github.com/umbra-vcs/umbra/missions"

func duCommand() *verb {
	return &verb{
		name: "du", short: "say what Umbra takes on the disk, and what could be given back",
		long: `By project and mission: what is stored of one alone, and what several share. Files
that are borrowed from your repositories take nothing. Nothing is ever deleted from
a project's snapshots, so they can't be made smaller yet.`,
		run: runDu,
	}
}

func runDu(c *call) error {
	c.NoDaemon = true // it takes memory that a process which stays would keep
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	u, err := svc.Usage(ctx, missions.UsageRequest{Caller: caller})
	if err != nil {
		return err
	}
	return c.print(u, func(p *printer) { describeUsage(p, u) })
}

func describeUsage(p *printer, u missions.Usage) {
	var t table
	t.row(cell{size(u.Bytes), bold}, cell{"in all, in " + clean(u.Home), bold})
	for _, project := range u.Projects {
		t.row(cell{size(project.Bytes), plain}, cell{"project " + clean(project.Name) + "  " + clean(project.Path), bold})
		for _, m := range project.Missions {
			what := "  " + clean(m.Name)
			if m.Removed {
				what += " (in the trash)"
			}
			t.row(cell{size(m.Files + m.Records), plain}, cell{what + ": files " + size(m.Files) + ", conversation and records " + size(m.Records), plain})
		}
		row := func(bytes int64, what string) {
			if bytes > 0 {
				t.row(cell{size(bytes), dim}, cell{"  " + what, dim})
			}
		}
		row(project.Shared, "shared by several missions")
		row(project.Rest, "what no mission leads to, and indexes")
		row(project.Borrowed, "your repository's own, which takes nothing more")
	}
	for _, w := range u.Other {
		t.row(cell{size(w.Bytes), plain}, cell{clean(w.What), plain})
	}
	for _, w := range u.Workspaces {
		t.row(cell{size(w.Bytes), plain}, cell{"beside it: " + clean(w.What) + " in " + clean(w.Path), plain})
	}
	t.print(p, "")
	for _, w := range u.Freeable {
		p.line("%s could be given back: %s", size(w.Bytes), clean(w.What))
		p.line("  to type: %s", clean(w.Fix))
	}
	for _, problem := range u.Problems {
		p.line("%s %s", p.paint(red, "problem:"), clean(problem.Message))
	}
}
