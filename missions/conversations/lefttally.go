package conversations

import (
	"maps"

	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// LeaveConversation counts what is left behind when the user begins anew.
func LeaveConversation(s *projects.Stored) {
	addToLeftTally(s)
	s.LeftTally.Resets++
}

// addToLeftTally counts the conversation with those that were left behind.
func addToLeftTally(s *projects.Stored) {
	left := missions.Tally{}
	if t := MissionTally(s); t != nil {
		left = *t
	}
	behind := map[string]missions.Tally{}
	maps.Copy(behind, s.LeftBySession)
	if s.Tally != nil {
		behind[s.Session] = s.Tally.Total
	}
	s.LeftTally, s.LeftBySession, s.Tally = &left, behind, nil
}

// ReturnToConversation counts as the mission's conversation one that it goes on with again. If
// its user had left it behind, it is the one gone on with meanwhile that is left now;
// if a restore had, what was counted since is taken back, as an undo does.
func ReturnToConversation(m *projects.Mission, session string) {
	m.Live.HookTally = nil
	was, behind := m.LeftBySession[session]
	if behind {
		addToLeftTally(&m.Stored)
		left := m.LeftTally.Minus(was)
		m.LeftTally = &left
		delete(m.LeftBySession, session)
	} else if then, ok := lastRecordOfSession(m, session); ok {
		m.LeftTally, m.LeftBySession = then.LeftTally, then.LeftBySession
		if then.Tally != nil {
			was = then.Tally.Total
		}
	}
	m.Tally = &projects.TallyProgress{Session: session, Total: was} // read from its beginning, where Umbra can
}

// lastRecordOfSession is the newest record of the mission in which it was in a session.
func lastRecordOfSession(m *projects.Mission, session string) (projects.Stored, bool) {
	for s, err := range m.Project.Store.Snapshots(m.Tip.ID, shadow.HistoryOptions{}) {
		if err != nil || s.Mission != m.ID {
			break
		}
		if then, err := m.Project.ReadStored(s.Record); err == nil && then.Session == session {
			return then, true
		}
	}
	return projects.Stored{}, false
}

// ResetLeftTally has a mission that goes on from a moment have left those conversations
// that it had left then. What can't be read stays counted.
func ResetLeftTally(m *projects.Mission, moment string) {
	target, err := addresses.SnapshotByID(m.Project, moment)
	if err != nil {
		return
	}
	if then, err := m.Project.ReadStored(target.Record); err == nil {
		m.LeftTally, m.LeftBySession = then.LeftTally, then.LeftBySession
	}
}
