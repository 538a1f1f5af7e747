package projects

import (
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions/home"
)

// missionCache is what a process knows of where missions are, so that an event of
// one costs the same however many there are. It is never believed: each answer is
// held against what is on disk. It is safe for concurrent use.
type missionCache struct {
	mu              sync.Mutex
	projectDirs     map[string]string         // project directories, by mission id
	sessionMissions map[string]string         // mission ids, by agent and session
	seenMissions    map[string]seenMission    // by mission id
	comparedStamps  map[string]home.FileStamp // of session files as they were compared whole, by mission id
	living          livingMissions
}

// livingMissions are the missions that had an agent when all were looked through.
type livingMissions struct {
	changes uint64              // of live states by this process, before they were looked through
	in      map[string][]string // mission ids, by workspace
}

func newMissionCache() *missionCache {
	return &missionCache{projectDirs: map[string]string{}, sessionMissions: map[string]string{}, seenMissions: map[string]seenMission{}, comparedStamps: map[string]home.FileStamp{}}
}

func (r *missionCache) projectDir(mission string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.projectDirs[mission]
}

func (r *missionCache) sessionMission(agent, session string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessionMissions[agent+" "+session]
}

// rememberMission remembers where a mission is that was just read.
func (r *missionCache) rememberMission(m *Mission) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.projectDirs[m.ID] = m.Project.Dir
}

// RememberSession remembers which mission a session was found to be of.
func (r *missionCache) RememberSession(m *Mission, session string) {
	r.rememberMission(m)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessionMissions[m.Agent+" "+session] = m.ID
}

// rememberLiving remembers which missions have an agent.
func (r *missionCache) rememberLiving(changes uint64, list []*Mission) {
	in := map[string][]string{}
	for _, m := range list {
		in[m.Binding.Workspace] = append(in[m.Binding.Workspace], m.ID)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.living = livingMissions{changes, in}
}

// livingIn are the missions that had an agent in a workspace when all were looked
// through; false if this process has changed a live state since.
func (r *missionCache) livingIn(changes uint64, root string) ([]string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.living.in[root], r.living.in != nil && r.living.changes == changes
}

// ComparedStamp is the stat data of a mission's session file when it was compared whole
// with what is recorded, and was the same.
func (r *missionCache) ComparedStamp(mission string) home.FileStamp {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.comparedStamps[mission]
}

func (r *missionCache) RememberComparison(mission string, stamp home.FileStamp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.comparedStamps[mission] = stamp
}

// seenMission is a mission as whoever watches saw it last, and what shows that it is
// still so. The mission is not to be changed.
type seenMission struct {
	liveStamp   home.FileStamp // of its live state
	tip, record gitstore.ID
	mission     *Mission // nil: its live state says that it has no agent
}

// isCurrent reports whether nothing of a mission has changed since.
func (g seenMission) isCurrent(state home.FileStamp) bool {
	if state != g.liveStamp || state == (home.FileStamp{}) {
		return false
	}
	if g.mission == nil {
		return true
	}
	store := g.mission.Project.Store
	if tip, err := store.Ref(gitstore.AgentRef(g.mission.ID)); err != nil || tip != g.tip {
		return false
	}
	record, err := store.Ref(gitstore.RecordRef(g.mission.ID))
	return err == nil && record == g.record
}
