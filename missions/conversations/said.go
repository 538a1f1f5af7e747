package conversations

import (
	"io"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// ReadTurns reads the mission's conversation, unless that would take long.
func (l *Library) ReadTurns(m *projects.Mission) ([]sessions.Turn, bool) {
	a := l.Adapter(m.Agent)
	if a == nil {
		return nil, false
	}
	talk, size, err := l.openPresentConversation(m, a)
	if err != nil {
		return nil, false
	}
	defer talk.Close()
	if size+talk.offsetInWhole > l.MaxCountedBytes {
		return nil, false
	}
	follower := a.Follow()
	if _, err := io.Copy(feeder{follower}, io.LimitReader(talk, l.MaxCountedBytes)); err != nil {
		return nil, false
	}
	return follower.Conversation().Turns, true
}

// ReadStoredBeforePrompt is a mission as it was at a snapshot, or where a prompt asked for that, at
// the one before: no cut there holds the prompt.
func ReadStoredBeforePrompt(p *projects.Project, s *gitstore.Snapshot) (projects.Stored, error) {
	if projects.TriggersOf(s).Has(missions.TriggerPrompt) && !s.Parent().IsZero() {
		before, err := p.Store.Snapshot(s.Parent())
		if err != nil {
			return projects.Stored{}, err
		}
		s = before
	}
	return p.ReadStored(s.Record)
}
