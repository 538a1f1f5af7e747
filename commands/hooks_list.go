package commands

import "github.com/umbra-vcs/umbra/missions"

// listHooks says of all hooks that there can be here where they are, and how well.
func listHooks(c *call) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	all, err := svc.HooksList(ctx, missions.HooksListRequest{Caller: caller})
	if err != nil {
		return err
	}
	return c.print(all, func(p *printer) { writeHooksList(p, all) })
}

func writeHooksList(p *printer, all []missions.HooksResult) {
	var t table
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
			missing = missing || !r.Absent
		}
		t.row(cell{text: clean(name)}, state, cell{text: clean(file)})
		t.rows[len(t.rows)-1].after = func(p *printer) {
			for _, problem := range r.Problems {
				p.line("  %s %s", p.paint(red, "problem:"), clean(problem))
			}
		}
	}
	t.print(p, "")
	if missing {
		p.line("to install them: umbra hooks install NAME")
	}
}

func hooksState(r missions.HooksResult) cell {
	switch {
	case len(r.Problems) > 0:
		return cell{text: "problems", style: red}
	case r.Installed:
		return cell{text: "up to date", style: green}
	case r.Absent:
		return cell{text: "not here", style: dim}
	}
	return cell{text: "not installed"}
}
