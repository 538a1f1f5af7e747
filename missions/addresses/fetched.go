package addresses

import (
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// findFetched finds a mission of a project that was fetched, REMOTE/MISSION, by its name,
// else by its id or a prefix of that. Two people may have given the same name.
func (f *Finder) findFetched(p *projects.Project, name string, r SearchScope) (*projects.Mission, error) {
	remote, mission, _ := missions.SplitFetched(name)
	var named, known []*projects.Mission
	if p != nil {
		all, _ := f.FetchedMissions(p) // what can't be read is not named
		for _, m := range all {
			switch {
			case m.Remote != remote:
			case m.Name == name:
				named = append(named, m)
			case missions.IDPrefixPattern().MatchString(mission) && strings.HasPrefix(m.ID, mission):
				known = append(known, m)
			}
		}
	}
	if len(named) == 0 {
		named = known
	}
	switch {
	case len(named) == 0:
		return nil, missions.Errorf(missions.KindNotFound, "umbra fetch "+remote+", umbra mission ls", "no mission %q was fetched", name)
	case len(named) > 1:
		var ids []string
		for _, m := range named {
			ids = append(ids, remote+"/"+m.ID[:8])
		}
		return nil, missions.Errorf(missions.KindAmbiguous, "use one of these", "%q could be %s", name, strings.Join(ids, ", "))
	case r != InAnyProject:
		return nil, named[0].CheckOwn()
	}
	return named[0], nil
}
