package projects

import (
	"errors"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

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

// RememberedMission reads a mission where it was last found; nil if it is not
// there, which says nothing.
func (d *Desk) RememberedMission(id string) *Mission {
	dir := d.MissionCache.projectDir(id)
	if dir == "" {
		return nil
	}
	p, err := d.OpenProject(dir)
	if err != nil {
		return nil
	}
	m, err := d.LoadMission(p, id)
	if err != nil {
		return nil
	}
	return m
}

// RememberedSessionMission reads the mission that spoke in a session last, if it still
// does; nil says nothing.
func (d *Desk) RememberedSessionMission(agent, session string) *Mission {
	id := d.MissionCache.sessionMission(agent, session)
	if id == "" {
		return nil
	}
	m := d.RememberedMission(id)
	if m == nil || m.Agent != agent || m.Stored.Session != session {
		return nil
	}
	return m
}

// LiveMissions lists the missions with an agent, which are not to be changed.
// Only those with a state in the journal can have one, and only what has changed
// since the last time is read.
func (d *Desk) LiveMissions() []*Mission {
	ids, err := d.Journal.LiveMissions()
	if err != nil {
		d.Logger.Warn("list live missions", "error", err)
		return nil
	}
	var list []*Mission
	for _, id := range ids {
		if m := d.liveMission(id); m != nil {
			list = append(list, m)
		}
	}
	return list
}

// LiveMissionsIn lists the missions with an agent in a workspace.
func (d *Desk) LiveMissionsIn(root string) []*Mission {
	return slices.DeleteFunc(d.LiveMissions(), func(m *Mission) bool { return m.Binding.Workspace != root })
}

// liveMission is what a mission with a live state is now; nil if it has no agent.
func (d *Desk) liveMission(id string) *Mission {
	path, err := d.Journal.LiveFile(id)
	if err != nil {
		return nil
	}
	state := home.StampOf(path)
	d.MissionCache.mu.Lock()
	before := d.MissionCache.seenMissions[id]
	d.MissionCache.mu.Unlock()
	if before.isCurrent(state) {
		return before.mission
	}
	now := seenMission{liveStamp: state}
	if d.MayHaveAgent(id) {
		m, err := d.MissionByID(id)
		if err != nil || !missions.HasAgent(m.Lifecycle) {
			return nil // it may be about to have one
		}
		now.tip, now.record, now.mission = m.Tip.ID, m.Record, m
	}
	d.MissionCache.mu.Lock()
	d.MissionCache.seenMissions[id] = now
	d.MissionCache.mu.Unlock()
	return now.mission
}

// AdoptedID is the id of the mission for a session started by hand: the same
// from whichever hook asks, so that two at once make one mission. The id of a
// mission that was removed is not used again, but for that of back if it is given:
// then it is the id as it will be when that mission is back.
func (d *Desk) AdoptedID(all []*Project, agent, session, back string) string {
	for n := 0; ; n++ {
		name := "umbra:" + d.Home.Machine + ":" + agent + ":" + session
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
