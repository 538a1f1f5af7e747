package missions

import (
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
)

// remembered is what a process knows of where missions are, so that an event of
// one costs the same however many there are. It is never believed: each answer is
// held against what is on disk. It is safe for concurrent use.
type remembered struct {
	mu       sync.Mutex
	projects map[string]string    // project directories, by mission id
	sessions map[string]string    // mission ids, by agent and session
	live     map[string]glimpse   // by mission id
	talks    map[string]fileStamp // of session files as they were compared whole, by mission id
}

func newRemembered() *remembered {
	return &remembered{projects: map[string]string{}, sessions: map[string]string{}, live: map[string]glimpse{}, talks: map[string]fileStamp{}}
}

func (r *remembered) projectOf(mission string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.projects[mission]
}

func (r *remembered) missionOf(agent, session string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessions[agent+" "+session]
}

// found remembers where a mission is that was just read.
func (r *remembered) found(m *loaded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.projects[m.ID] = m.project.Dir
}

// speaks remembers which mission a session was found to be of.
func (r *remembered) speaks(m *loaded, session string) {
	r.found(m)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessions[m.Agent+" "+session] = m.ID
}

// compared is the stat data of a mission's session file when it was compared whole
// with what is recorded, and was the same.
func (r *remembered) compared(mission string) fileStamp {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.talks[mission]
}

func (r *remembered) compare(mission string, stamp fileStamp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.talks[mission] = stamp
}

// rememberedMission reads a mission where it was last found; nil if it is not
// there, which says nothing.
func (l *Local) rememberedMission(id string) *loaded {
	dir := l.known.projectOf(id)
	if dir == "" {
		return nil
	}
	p, err := l.openProject(dir)
	if err != nil {
		return nil
	}
	m, err := l.load(p, id)
	if err != nil {
		return nil
	}
	return m
}

// rememberedSession reads the mission that spoke in a session last, if it still
// does; nil says nothing.
func (l *Local) rememberedSession(agent, session string) *loaded {
	id := l.known.missionOf(agent, session)
	if id == "" {
		return nil
	}
	m := l.rememberedMission(id)
	if m == nil || m.Agent != agent || m.stored.Session != session {
		return nil
	}
	return m
}

// glimpse is a mission as whoever watches saw it last, and what shows that it is
// still so. The mission is not to be changed.
type glimpse struct {
	state       fileStamp // of its live state
	tip, record gitstore.ID
	mission     *loaded // nil: its live state says that it has no agent
}

// same reports whether nothing of a mission has changed since.
func (g glimpse) same(state fileStamp) bool {
	if state != g.state || state == (fileStamp{}) {
		return false
	}
	if g.mission == nil {
		return true
	}
	store := g.mission.project.store
	if tip, err := store.Ref(gitstore.AgentRef(g.mission.ID)); err != nil || tip != g.tip {
		return false
	}
	record, err := store.Ref(gitstore.RecordRef(g.mission.ID))
	return err == nil && record == g.record
}

// glance is what a mission with a live state is now; nil if it has no agent.
func (l *Local) glance(id string) *loaded {
	path, err := l.journal.LiveFile(id)
	if err != nil {
		return nil
	}
	state := stampOf(path)
	l.known.mu.Lock()
	before := l.known.live[id]
	l.known.mu.Unlock()
	if before.same(state) {
		return before.mission
	}
	now := glimpse{state: state}
	if l.mayLive(id) {
		m, err := l.missionByID(id)
		if err != nil || !HasAgent(m.life) {
			return nil // it may be about to have one
		}
		now.tip, now.record, now.mission = m.tip.ID, m.record, m
	}
	l.known.mu.Lock()
	l.known.live[id] = now
	l.known.mu.Unlock()
	return now.mission
}
