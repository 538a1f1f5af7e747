package addresses

import (
	"context"
	"slices"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// FindMissions resolves several names; none is the default mission.
func (f *Finder) FindMissions(ctx context.Context, c missions.Caller, names []string) ([]*projects.Mission, error) {
	if len(names) == 0 {
		names = []string{""}
	}
	var list []*projects.Mission
	for _, name := range names {
		m, err := f.FindMission(ctx, c, name, InProject)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(o *projects.Mission) bool { return o.ID == m.ID }) {
			list = append(list, m)
		}
	}
	return list, nil
}
