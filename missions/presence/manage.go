package presence

import (
	"os"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

func (o *Observer) ProjectView(p *projects.Project) missions.Project {
	v := missions.Project{ID: p.ID, Name: p.Name, Path: p.Locations.Path, CommonDir: p.Locations.CommonDir, ShadowRepo: p.ShadowRepo()}
	list, problems := o.ProjectMissions(p)
	v.Missions = len(list)
	for _, m := range list {
		if missions.HasAgent(m.Lifecycle) && !o.IsAgentGone(m) {
			v.Live++
		}
	}
	for _, problem := range problems {
		v.Problems = append(v.Problems, problem.Message)
	}
	if _, err := os.Stat(p.Locations.Path); p.Locations.Path != "" && err != nil {
		v.Problems = append(v.Problems, p.Locations.Path+" is not there; if it was moved: umbra project move "+p.Locations.Path+" NEW")
	}
	return v
}
