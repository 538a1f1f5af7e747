package hooks

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// listHooks says of all hooks that there can be here where they are, and how well.
func listHooks(c *call.Call) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	all, err := svc.HooksList(ctx, missions.HooksListRequest{Caller: caller})
	if err != nil {
		return err
	}
	return c.Print(all, func(p *print.Printer) { writeHooksList(p, all) })
}

func writeHooksList(p *print.Printer, all []missions.HooksResult) {
	var t print.Table
	missing := false
	for _, r := range all {
		name := r.Name
		if r.Project {
			name += " --project"
		}
		if r.Project && r.Shared {
			name += " --shared"
		}
		state, file := hooksState(r), r.File
		if !r.Installed && len(r.Problems) == 0 {
			file = "" // where they would be says nothing
			missing = missing || !r.Absent && r.Plugin == ""
		}
		t.Row(print.Plain.Cell(print.Clean(name)), state, print.Plain.Cell(print.Clean(file)))
		t.Rows[len(t.Rows)-1].After = func(p *print.Printer) {
			for _, problem := range r.Problems {
				p.Line("  %s %s", p.Paint(print.Red, "problem:"), print.Clean(problem))
			}
		}
	}
	t.Print(p, "")
	if missing {
		p.Line("to install them: umbra hooks install NAME")
	}
}

func hooksState(r missions.HooksResult) print.Cell {
	switch {
	case len(r.Problems) > 0:
		return print.Red.Cell("problems")
	case r.Installed:
		return print.Green.Cell("up to date")
	case r.Plugin != "":
		return print.Green.Cell("by a plugin")
	case r.Absent:
		return print.Dim.Cell("not here")
	}
	return print.Plain.Cell("not installed")
}
