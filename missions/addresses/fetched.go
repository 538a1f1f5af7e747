package addresses

import (
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// findFetched finds a mission that was fetched, REMOTE/MISSION, by its name, else by its id
// or a prefix of that: in a project, and where it may be of any, then in every other one.
func (f *Finder) findFetched(here *projects.Project, name string, r SearchScope) (*projects.Mission, error) {
	found := f.fetchedIn(here, name)
	if len(found) == 0 && r == InAnyProject {
		all, _ := f.AllProjects() // what can't be read is not named
		for _, p := range all {
			if here == nil || p.ID != here.ID {
				found = append(found, f.fetchedIn(p, name)...)
			}
		}
	}
	remote, _, _ := missions.SplitFetched(name)
	switch {
	case len(found) == 0:
		return nil, missions.Errorf(missions.KindNotFound, "umbra fetch "+remote+", umbra mission ls", "no mission %q was fetched", name)
	case len(found) > 1:
		var ids []string
		for _, m := range found {
			ids = append(ids, remote+"/"+m.ID[:8])
		}
		return nil, missions.Errorf(missions.KindAmbiguous, "use one of these", "%q could be %s", name, strings.Join(ids, ", "))
	case r != InAnyProject:
		return nil, found[0].CheckOwn()
	}
	return found[0], nil
}

// fetchedIn are the missions of a project that a name may mean. Two people may have given the
// same one.
func (f *Finder) fetchedIn(p *projects.Project, name string) []*projects.Mission {
	if p == nil {
		return nil
	}
	remote, mission, _ := missions.SplitFetched(name)
	var named, known []*projects.Mission
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
	if len(named) > 0 {
		return named
	}
	return known
}
