package commands

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
)

// listHooks says of all hooks that there can be here where they are, and how well.
func listHooks(c *call) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	l := hooksList{svc: svc, seen: map[string]bool{}, all: []missions.HooksResult{}}
	for _, agent := range missions.Agents() {
		r := missions.HooksRequest{Caller: caller, Name: agent.Name()}
		l.add(ctx, r)
		r.Project = true
		l.addInstalled(ctx, r)
		r.Shared = true
		l.addInstalled(ctx, r)
	}
	for _, name := range missions.Hinters() {
		l.add(ctx, missions.HooksRequest{Caller: caller, Name: name})
	}
	return c.print(l.all, func(p *printer) { writeHooksList(p, l.all) })
}

// hooksList gathers the states of hooks; a project that is a home has its user's.
type hooksList struct {
	svc  missions.Service
	seen map[string]bool
	all  []missions.HooksResult
}

// add takes in the hooks of a name. What keeps Umbra from telling is their problem;
// Git's are nowhere where no repository is.
func (l *hooksList) add(ctx context.Context, r missions.HooksRequest) {
	is, err := l.svc.HooksStatus(ctx, r)
	if err != nil {
		is = missions.HooksResult{Name: r.Name, Absent: true}
		if e := missions.AsError(err); e.Kind != missions.KindUsage {
			is.Problems = []string{e.Message}
		}
	}
	l.seen[is.File] = true
	l.all = append(l.all, is)
}

// addInstalled takes them in only where there are any.
func (l *hooksList) addInstalled(ctx context.Context, r missions.HooksRequest) {
	is, err := l.svc.HooksStatus(ctx, r)
	if err != nil || !is.Installed && len(is.Problems) == 0 || l.seen[is.File] {
		return
	}
	l.seen[is.File] = true
	l.all = append(l.all, is)
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
