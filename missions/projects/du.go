package projects

import (
	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
)

// RemovedMissionsIn are the missions of a project that are in the trash, and what could
// not be read of them.
func (d *Desk) RemovedMissionsIn(p *Project) ([]*Mission, []missions.Problem) {
	problem := func(mission string, err error) missions.Problem {
		return missions.Problem{Invariant: "I3", Project: p.Name, Mission: mission, Message: "in the trash: " + err.Error(), Fix: "umbra doctor"}
	}
	refs, err := p.Store.Refs(gitstore.RefTrashAgent)
	if err != nil {
		return nil, []missions.Problem{problem("", err)}
	}
	var list []*Mission
	var problems []missions.Problem
	for _, bad := range refs.Bad {
		problems = append(problems, problem("", &bad))
	}
	for _, ref := range refs.Refs {
		id := ref.Name.Mission()
		if _, err := p.Store.Ref(gitstore.AgentRef(id)); err == nil {
			continue // a removal, or the way back, was cut off: it is there
		}
		m, err := d.LoadRemovedMission(p, id)
		if err != nil {
			problems = append(problems, problem(id, err))
			continue
		}
		list = append(list, m)
	}
	return list, problems
}
