package projects

import (
	"errors"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// MissionFinder finds missions in all projects of the home. It remembers where a mission
// was, so that it need not look everywhere again.
type MissionFinder struct {
	*Base
	missions     *MissionReader
	registry     *Registry
	MissionCache *missionCache
}

// MissionByID finds a mission in any project, by its whole id.
func (f *MissionFinder) MissionByID(id string) (*Mission, error) {
	if missions.UUIDPattern().MatchString(id) {
		if m := f.RememberedMission(id); m != nil && m.Live.ProvisionalSnapshot == "" {
			return m, nil
		}
		all, _ := f.registry.AllProjects()
		for _, p := range all {
			if m, err := f.missions.LoadPublishedMission(p, id); m != nil || err != nil {
				if m != nil {
					f.MissionCache.rememberMission(m)
				}
				return m, err
			}
		}
	}
	return nil, missions.Errorf(missions.KindNotFound, "umbra mission ls --all", "no mission %s", id)
}

// RememberedMission reads a mission where it was last found; nil if it is not
// there, which says nothing.
func (f *MissionFinder) RememberedMission(id string) *Mission {
	dir := f.MissionCache.projectDir(id)
	if dir == "" {
		return nil
	}
	p, err := f.registry.OpenProject(dir)
	if err != nil {
		return nil
	}
	m, err := f.missions.LoadMission(p, id)
	if err != nil {
		return nil
	}
	return m
}

// RememberedSessionMission reads the mission that spoke in a session last, if it still
// does; nil says nothing.
func (f *MissionFinder) RememberedSessionMission(agent, session string) *Mission {
	id := f.MissionCache.sessionMission(agent, session)
	if id == "" {
		return nil
	}
	m := f.RememberedMission(id)
	if m == nil || m.Agent != agent || m.Stored.Session != session {
		return nil
	}
	return m
}

// LiveMissions lists the missions with an agent, which are not to be changed.
// Only those with a state in the journal can have one, and only what has changed
// since the last time is read.
func (f *MissionFinder) LiveMissions() []*Mission {
	changes := f.Journal.LiveChanges()
	ids, err := f.Journal.LiveMissions()
	if err != nil {
		f.Logger.Warn("list live missions", "error", err)
		return nil
	}
	var list []*Mission
	for _, id := range ids {
		if m := f.liveMission(id); m != nil {
			list = append(list, m)
		}
	}
	f.MissionCache.rememberLiving(changes, list)
	return list
}

// LiveMissionsIn lists the missions with an agent in a workspace. Only those are read
// that had one there when LiveMissions was called last: for a process that calls it from
// time to time this costs the same however many other missions there are. What another
// process begins there meanwhile is not listed.
func (f *MissionFinder) LiveMissionsIn(root string) []*Mission {
	ids, known := f.MissionCache.livingIn(f.Journal.LiveChanges(), root)
	if !known {
		return slices.DeleteFunc(f.LiveMissions(), func(m *Mission) bool { return m.Binding.Workspace != root })
	}
	var list []*Mission
	for _, id := range ids {
		if m := f.liveMission(id); m != nil && m.Binding.Workspace == root {
			list = append(list, m)
		}
	}
	return list
}

// liveMission is what a mission with a live state is now; nil if it has no agent.
func (f *MissionFinder) liveMission(id string) *Mission {
	path, err := f.Journal.LiveFile(id)
	if err != nil {
		return nil
	}
	state := home.StampOf(path)
	f.MissionCache.mu.Lock()
	before := f.MissionCache.seenMissions[id]
	f.MissionCache.mu.Unlock()
	if before.isCurrent(state) {
		return before.mission
	}
	now := seenMission{liveStamp: state}
	if f.missions.MayHaveAgent(id) {
		m, err := f.MissionByID(id)
		if err != nil || !missions.HasAgent(m.Lifecycle) {
			return nil // it may be about to have one
		}
		now.tip, now.record, now.mission = m.Tip.ID, m.Record, m
	}
	f.MissionCache.mu.Lock()
	f.MissionCache.seenMissions[id] = now
	f.MissionCache.mu.Unlock()
	return now.mission
}

// AdoptedID is the id of the mission for a session started by hand: the same
// from whichever hook asks, so that two at once make one mission. The id of a
// mission that was removed is not used again, but for that of back if it is given:
// then it is the id as it will be when that mission is back.
func (f *MissionFinder) AdoptedID(all []*Project, agent, session, back string) string {
	for n := 0; ; n++ {
		name := "umbra:" + f.Home.Machine + ":" + agent + ":" + session
		if n > 0 {
			name += ":" + missions.Itoa(n)
		}
		id := missions.NamedID(name)
		removed := slices.ContainsFunc(all, func(p *Project) bool {
			_, err := p.Store.Ref(gitstore.TrashAgentRef(id))
			return !errors.Is(err, gitstore.ErrRefNotFound)
		})
		if !removed || id == back {
			return id
		}
	}
}
