package moves

import (
	"context"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Follow has a mission go on in the directory that its workspace was moved to, if its agent
// works there: it is the same directory, by its identity, under another path. With the
// mission go all whose workspaces were moved along. A mission whose workspace is in its
// place, or can't be followed, is returned as it is.
func (mv *Mover) Follow(ctx context.Context, m *projects.Mission, cwd string) (*projects.Mission, error) {
	if m.Binding.Workspace == "" {
		return m, nil
	}
	moved := m.MovedTo(cwd)
	if moved == "" || mv.agents.CheckRoot(moved, m.Binding.AgentVars["HOME"], false) != nil {
		return m, nil
	}
	from := m.Binding.Workspace
	to, err := projects.InspectDirectory(moved)
	if err != nil {
		return m, err
	}
	if scope := "/" + m.Binding.PathInRepo; to.Repo != nil && to.Repo.TopLevel+scope == moved && strings.HasSuffix(from, scope) {
		top := strings.TrimSuffix(from, scope) // is the whole repository's, and was moved with it
		if at, err := projects.InspectDirectory(to.Repo.TopLevel); err == nil && (!home.IsThere(top) || projects.ResolveLinks(top) == at.Dir) {
			from, to = top, at
		}
	}
	held, err := lock.Wait(ctx, mv.Home.Path("locks", "projects"), lock.Exclusive, mv.Self)
	if err != nil {
		return m, home.LockError(err)
	}
	defer held.Release()
	mv.Logger.Info("a workspace was moved, and its missions follow", "from", from, "to", to.Dir)
	p, err := mv.moveAll(ctx, m.Project, from, to, mv.followers(m.Project, from, to.Dir))
	if err != nil {
		return m, err
	}
	fresh, err := mv.LoadMission(p, m.ID)
	if err != nil {
		return m, err
	}
	return fresh, nil
}

// followers are the missions whose workspaces were moved from one directory to another.
func (mv *Mover) followers(p *projects.Project, from, to string) []MissionMove {
	var moves []MissionMove
	list, _ := mv.ProjectMissions(p)
	for _, m := range list {
		if m.Binding.Workspace == "" || !home.IsWithin(from, m.Binding.Workspace) {
			continue
		}
		g, err := projects.InspectDirectory(to + strings.TrimPrefix(m.Binding.Workspace, from))
		if err == nil && m.Binding.Identity.Is(g.Identity) {
			moves = append(moves, MissionMove{m, g})
		}
	}
	return moves
}
