package restores

import (
	"path/filepath"
	"sync"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// InTurnError refuses to change files under an agent that is in its turn.
func InTurnError(m *projects.Mission) error {
	const now = "or --force to have it done now"
	if !missions.IsInKnownTurn(m.Lifecycle) {
		return missions.Errorf(missions.KindBusy, "add --when-idle to have it done when it is quiet, "+now, "%s is at work", m.Name)
	}
	return missions.Errorf(missions.KindBusy, "add --when-idle to have it done at the turn's end, "+now, "%s is in turn %d", m.Name, m.Lifecycle.LastTurn())
}

// Neighbours finds the other missions that work in the same files, and who changed what.
type Neighbours struct {
	*projects.Desk
	presence *presence.Observer
}

// CheckNeighbours refuses while the agent of another mission is at work in the same
// files. The other mission may be of another project, since a nested repository is a
// project of its own.
func (nb *Neighbours) CheckNeighbours(m *projects.Mission) error {
	others, err := nb.OverlappingMissions(m)
	if err != nil {
		return err
	}
	for _, o := range others {
		if (missions.InTurn(o.Lifecycle) || nb.presence.ActivityAfterTurn(o) == presence.AtWork) && !nb.presence.IsAgentGone(o) {
			hint := "wait for it: umbra mission wait " + o.Name
			if presence.HasUnknownProcess(o) {
				hint += "; if its agent is gone: umbra mission stop " + o.Name + " --force"
			}
			return missions.Errorf(missions.KindBusy, hint, "mission %s is in a turn in %s", o.Name, o.Binding.Workspace)
		}
	}
	return nil
}

// OverlappingMissions lists the other missions whose workspace holds m's, or is in it.
// It fails if a mission can't be read, since that mission may be one of them.
func (nb *Neighbours) OverlappingMissions(m *projects.Mission) ([]*projects.Mission, error) {
	list, problems := nb.findOverlappingMissions(m)
	if len(problems) > 0 {
		return nil, unreadNeighbourError(m, problems[0])
	}
	return list, nil
}

func unreadNeighbourError(m *projects.Mission, p missions.Problem) error {
	return missions.Errorf(missions.KindDamaged, "umbra doctor --fix; --force goes on without",
		"who else works in %s can't be told: %s", m.Binding.Workspace, p.Message)
}

// findOverlappingMissions is OverlappingMissions for the missions that can be read,
// with the problems of the others.
func (nb *Neighbours) findOverlappingMissions(m *projects.Mission) (list []*projects.Mission, problems []missions.Problem) {
	projects, problems := nb.AllProjects()
	for _, p := range projects {
		all, more := nb.ProjectMissions(p)
		if p.ID == m.Project.ID || hasWorkspaceNear(p, m.Binding.Workspace) {
			problems = append(problems, more...)
		}
		for _, o := range all {
			if o.ID != m.ID && agents.PathsOverlap(o.Binding.Workspace, m.Binding.Workspace) {
				list = append(list, o)
			}
		}
	}
	return list, problems
}

// hasWorkspaceNear reports whether a workspace of the project is known to overlap path.
func hasWorkspaceNear(p *projects.Project, path string) bool {
	for _, h := range p.Locations.Workspaces {
		if agents.PathsOverlap(h.Path, path) {
			return true
		}
	}
	return false
}

// nestedWorkspaceCheck returns a function that reports whether a directory of m's
// workspace is the workspace of another mission. If a restore made such a directory
// again, it would be another directory, and its mission would have no workspace. The
// missions are looked up at the first call.
func (nb *Neighbours) nestedWorkspaceCheck(m *projects.Mission) func(dir string) bool {
	roots := sync.OnceValue(func() map[string]bool {
		list := map[string]bool{}
		others, _ := nb.findOverlappingMissions(m) // what can't be read is said by CheckNeighbours
		for _, o := range others {
			list[o.Binding.Workspace] = !o.IsWorkspaceGone()
		}
		return list
	})
	return func(dir string) bool { return roots()[filepath.Join(m.Binding.Workspace, dir)] }
}
