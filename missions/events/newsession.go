package events

import (
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// BeginsNewSession reports whether an event shows that the agent of a mission with a keeper
// begins another session of the mission.
func BeginsNewSession(m *projects.Mission, e sessions.Event) bool {
	return situation{knowMission(m, e), e}.beginsSession()
}

// followSession binds a mission to the process and the session that its agent speaks in.
func (l *Listener) followSession(m *projects.Mission, a sessions.Adapter, e sessions.Event, step SessionStep) {
	m.TakeToolName(a, e)
	if e.PID > 0 && !(projects.IsForeignAdapter(a) && m.Live.HasKeeper()) {
		if m.Live.AgentNamed = true; m.Live.Agent == nil || m.Live.Agent.PID != e.PID || m.Live.Agent.Liveness() == lock.Gone {
			owner := l.agents.ProcessByPID(e.PID)
			m.Live.Agent = &owner
		}
	}
	switch step {
	case StepAside:
		return
	case StepStays:
		if e.Transcript != "" {
			m.Binding.SessionPath = e.Transcript
		}
		m.Diverged = m.Diverged && e.Kind != sessions.KindPrompt
	case StepReturns:
		m.Diverged = false
		conversations.ReturnToConversation(m, e.SessionID)
		m.Live.TurnSession = e.SessionID
	case StepBegins:
		conversations.LeaveConversation(&m.Stored)
		m.Live.HookTally, m.Live.TurnSession = nil, e.SessionID
	}
	if step != StepStays {
		conversations.SwitchSession(m, e.SessionID, e.Transcript)
		if m.Binding.SessionPath == "" && !projects.IsForeignAdapter(a) {
			m.Binding.SessionPath = a.Path(m.AdapterEnv(), e.Cwd, e.SessionID)
		}
	}
	m.Live.BoundSession, m.Live.ProcessSession = e.SessionID, &projects.ProcessSession{PID: e.PID, Session: e.SessionID}
}
