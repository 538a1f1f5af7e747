package projects

import (
	"errors"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
)

// ProjectMissions loads a project's missions. A damaged one hides no other.
func (d *Desk) ProjectMissions(p *Project) ([]*Mission, []missions.Problem) {
	found, problems, err := d.ListMissions(p)
	if err != nil {
		return nil, []missions.Problem{{Invariant: "I1", Project: p.Name, Message: err.Error(), Fix: "umbra doctor"}}
	}
	return found, problems
}

// ListMissions is ProjectMissions where it matters whether there is none or they could
// not be listed.
func (d *Desk) ListMissions(p *Project) (found []*Mission, problems []missions.Problem, err error) {
	list, err := p.Store.Refs(gitstore.RefAgent)
	if err != nil {
		return nil, nil, err
	}
	for _, bad := range list.Bad {
		problems = append(problems, missions.Problem{Invariant: "I1", Project: p.Name, Message: bad.Error(), Fix: "umbra doctor --fix"})
	}
	for _, ref := range list.Refs {
		m, err := d.LoadMission(p, ref.Name.Mission())
		if err != nil {
			problems = append(problems, missions.Problem{Invariant: "I3", Project: p.Name, Mission: ref.Name.Mission(), Message: err.Error(), Fix: "umbra doctor --fix"})
			continue
		}
		found = append(found, m)
	}
	slices.SortStableFunc(found, func(a, b *Mission) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return found, problems, nil
}

// LoadPublishedMission loads the mission with an id, nil if the project has none.
func (d *Desk) LoadPublishedMission(p *Project, id string) (*Mission, error) {
	_, err := p.Store.Ref(gitstore.AgentRef(id))
	if errors.Is(err, gitstore.ErrRefNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, missionRefError(id, err)
	}
	return d.LoadMission(p, id)
}

// MissionByID finds a mission in any project, by its whole id.
func (d *Desk) MissionByID(id string) (*Mission, error) {
	if missions.UUIDPattern().MatchString(id) {
		if m := d.RememberedMission(id); m != nil && m.Live.ProvisionalSnapshot == "" {
			return m, nil
		}
		all, _ := d.AllProjects()
		for _, p := range all {
			if m, err := d.LoadPublishedMission(p, id); m != nil || err != nil {
				if m != nil {
					d.MissionCache.rememberMission(m)
				}
				return m, err
			}
		}
	}
	return nil, missions.Errorf(missions.KindNotFound, "umbra mission ls --all", "no mission %s", id)
}
