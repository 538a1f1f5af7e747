package missions

import (
	"maps"

	"github.com/umbra-vcs/umbra/gitstore"
)

// leaveTalk counts what is left behind when the user begins anew.
func (s *stored) leaveTalk() {
	s.putBehind()
	s.Left.Resets++
}

// putBehind counts the conversation with those that were left behind.
func (s *stored) putBehind() {
	left := Tally{}
	if t := s.talked(); t != nil {
		left = *t
	}
	behind := map[string]Tally{}
	maps.Copy(behind, s.Behind)
	if s.Talk != nil {
		behind[s.Session] = s.Talk.Tally
	}
	s.Left, s.Behind, s.Talk = &left, behind, nil
}

// returnTalk counts as the mission's conversation one that it goes on with again. If
// its user had left it behind, it is the one gone on with meanwhile that is left now;
// if a restore had, what was counted since is taken back, as an undo does.
func (m *loaded) returnTalk(session string) {
	m.live.Told = nil
	was, behind := m.Behind[session]
	if behind {
		m.putBehind()
		left := m.Left.less(was)
		m.Left = &left
		delete(m.Behind, session)
	} else if then, ok := m.lastIn(session); ok {
		m.Left, m.Behind = then.Left, then.Behind
		if then.Talk != nil {
			was = then.Talk.Tally
		}
	}
	m.Talk = &tallied{Session: session, Tally: was} // read from its beginning, where Umbra can
}

// lastIn is the newest record of the mission in which it was in a session.
func (m *loaded) lastIn(session string) (stored, bool) {
	for s, err := range m.project.store.Snapshots(m.tip.ID, gitstore.HistoryOptions{}) {
		if err != nil || s.Mission != m.ID {
			break
		}
		if then, err := m.project.storedAt(s.Record); err == nil && then.Session == session {
			return then, true
		}
	}
	return stored{}, false
}

// takeBackLeft has a mission that goes on from a moment have left those conversations
// that it had left then. What can't be read stays counted.
func (m *loaded) takeBackLeft(moment string) {
	target, err := m.project.snapshotNamed(moment)
	if err != nil {
		return
	}
	if then, err := m.project.storedAt(target.Record); err == nil {
		m.Left, m.Behind = then.Left, then.Behind
	}
}

// less is a tally without one that it holds.
func (t Tally) less(o Tally) Tally {
	return t.plus(Tally{
		Prompts: -o.Prompts, Tools: -o.Tools, Input: -o.Input, Output: -o.Output,
		Compactions: -o.Compactions, Resets: -o.Resets, Cost: -o.Cost,
	})
}
