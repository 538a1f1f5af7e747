package promotes

import (
	"slices"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// forksOf lists the forks of a parent, the promoted one first, and what their workspaces
// take. Forks whose agent is there are not among them.
func (p *Promoter) forksOf(parent, promoted *projects.Mission) []missions.ForkRoom {
	siblings := slices.DeleteFunc(p.listForks(parent), func(f *projects.Mission) bool { return f.ID == promoted.ID })
	list := []missions.ForkRoom{}
	for _, f := range append([]*projects.Mission{promoted}, siblings...) {
		if missions.HasAgent(f.Lifecycle) {
			continue
		}
		room := missions.ForkRoom{Mission: f.ID, Name: f.Name}
		if f.Binding.MadeByUmbra && f.CheckMachine() == nil && !f.IsWorkspaceGone() {
			room.Workspace = f.Binding.Workspace
			room.Bytes, _ = home.DiskUsage(room.Workspace) // what can't be read is no room to promise
		}
		list = append(list, room)
	}
	return list
}
