package hooks

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/events"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// HooksList lists all hooks that the caller can have, with their states: each agent's for
// the user and, where there are any, the project's; then those of editors and Git. Where
// a state can't be read, the entry's problem says why.
func (in *Installer) HooksList(ctx context.Context, r missions.HooksListRequest) ([]missions.HooksResult, error) {
	list := hooksList{installer: in, seen: map[string]bool{}, all: []missions.HooksResult{}}
	for _, agent := range projects.Agents() {
		one := missions.HooksRequest{Caller: r.Caller, Name: agent.Name()}
		list.add(ctx, one)
		one.Project = true
		list.addInstalled(ctx, one)
		one.Shared = true
		list.addInstalled(ctx, one)
	}
	for _, name := range events.Hinters() {
		list.add(ctx, missions.HooksRequest{Caller: r.Caller, Name: name})
	}
	return list.all, ctx.Err()
}

// hooksList gathers the states of hooks; a project that is a home has its user's.
type hooksList struct {
	installer *Installer
	seen      map[string]bool // by the file that they are in
	all       []missions.HooksResult
}

// add adds the hooks of a name. Git's are absent outside a repository.
func (l *hooksList) add(ctx context.Context, r missions.HooksRequest) {
	is, err := l.installer.HooksStatus(ctx, r)
	if err != nil {
		is = missions.HooksResult{Name: r.Name, Absent: true}
		if e := missions.AsError(err); e.Kind != missions.KindUsage {
			is.Problems = []string{e.Message}
		}
	}
	l.seen[is.File] = true
	l.all = append(l.all, is)
}

// addInstalled adds hooks only where there are any.
func (l *hooksList) addInstalled(ctx context.Context, r missions.HooksRequest) {
	is, err := l.installer.HooksStatus(ctx, r)
	if err != nil || !is.Installed && len(is.Problems) == 0 || l.seen[is.File] {
		return
	}
	l.seen[is.File] = true
	l.all = append(l.all, is)
}
