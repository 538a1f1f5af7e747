package events

import (
	"context"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// startHasEffect reports whether an event, if it is the start of a session, begins something in
// the mission. A turn is left only by what is known to leave one, and goes on after its
// conversation was summed up in the middle of it.
func startHasEffect(m *projects.Mission, e sessions.Event) bool {
	if e.Kind != sessions.KindSessionStart {
		return true
	}
	return !missions.InTurn(m.Lifecycle) || e.Source != "startup" && e.Source != compactSource || BeginsNewSession(m, e)
}

// isFromLeftSession reports whether an event is of a session that the mission has left.
func isFromLeftSession(m *projects.Mission, e sessions.Event) bool {
	return e.SessionID != m.Stored.Session && slices.Contains(m.FormerSessions, e.SessionID)
}

// returnsToSession reports whether the mission's agent goes on in a session that the mission has
// left, be it for /clear or a restore: its user has opened it again or, where the agent
// was never taken out of it, speaks there. A turn that was left goes on without either;
// and a hook that outlives its agent says nothing of the one that there is now.
func returnsToSession(m *projects.Mission, e sessions.Event) bool {
	spoken := e.Kind == sessions.KindPrompt || e.Kind == sessions.KindSessionStart && e.Source == "resume" || e.Lone
	if !spoken || e.Agent != "" || !isFromLeftSession(m, e) {
		return false
	}
	if e.PID == 0 { // it may be late, of the agent before, until the one that lives has spoken
		return m.Live.Liveness() != lock.Alive || m.Live.HasKeeper() && m.Live.HeardSinceLaunch
	}
	return lock.Process(e.PID, "").Liveness() != lock.Gone
}

// beginsInLeftSession reports whether an event begins something in a session that the mission has
// left, and does not return to: hooks outlive the agent that a restore has ended.
func beginsInLeftSession(m *projects.Mission, e sessions.Event) bool {
	return (e.Kind == sessions.KindPrompt || e.Kind == sessions.KindSessionStart) && isFromLeftSession(m, e) && !returnsToSession(m, e)
}

// BeginsNewSession reports whether the agent of a mission with a keeper begins, in the same
// process, another session that it calls a first one: what Codex and OpenCode do at
// /new. OpenCode does so in the middle of a turn too, which goes on beside.
func BeginsNewSession(m *projects.Mission, e sessions.Event) bool {
	return e.Kind == sessions.KindSessionStart && e.Source == "startup" && e.Agent == "" && e.PID > 0 &&
		m.Stored.Session != "" && e.SessionID != m.Stored.Session && !slices.Contains(m.FormerSessions, e.SessionID) &&
		m.Live.HasKeeper() && m.Live.IsAgentProcess(e.PID)
}

// endLeftTurn ends the turn that an agent leaves for another session, while the mission
// still has the one it was said in: the snapshot of its end is to have that.
func (l *Listener) endLeftTurn(ctx context.Context, m *projects.Mission, e sessions.Event) error {
	leaves := func(m *projects.Mission) (bool, error) {
		return (BeginsNewSession(m, e) || returnsToSession(m, e)) && missions.InTurn(m.Lifecycle), nil
	}
	if ok, _ := leaves(m); !ok {
		return nil
	}
	_, err := l.snapshots.SubmitRequest(ctx, m.Project, m.ID, &snapshots.Request{Event: missions.SessionBegan{}, Prepare: leaves})
	return err
}

// endsFormerTurn reports whether an event is the end of a turn that was begun in a
// session which the mission has left in the middle of it, and not of the turn that
// runs.
func endsFormerTurn(m *projects.Mission, e sessions.Event) bool {
	_, running := m.Lifecycle.(missions.Running)
	return running && (e.Kind == sessions.KindStop || e.Kind == sessions.KindError) && isFromUnpromptedLeftSession(m, e)
}

// isFromUnpromptedLeftSession reports whether an event is of a session that the mission has left, and
// that nobody has prompted since.
func isFromUnpromptedLeftSession(m *projects.Mission, e sessions.Event) bool {
	return slices.Contains(m.FormerSessions, e.SessionID) && m.Live.TurnSession != "" && m.Live.TurnSession != e.SessionID
}

// endsLeftSession reports whether an event is the end of a session that a keeper's
// mission has left, or is about to: the mission goes on in another one, and its
// keeper says when it does not.
func endsLeftSession(m *projects.Mission, e sessions.Event) bool {
	return e.Kind == sessions.KindSessionEnd && m.Live.HasKeeper() && (m.Live.Handover != nil || isFromLeftSession(m, e))
}

// isFromAnotherProcess reports whether an event is known to come from another process
// than the mission's agent, while that lives.
func isFromAnotherProcess(m *projects.Mission, e sessions.Event) bool {
	a := m.Live.Agent
	return e.PID > 0 && a != nil && a.PID != e.PID && a.Liveness() == lock.Alive
}

// followSession binds a mission to the session its agent speaks in. One that the
// mission has left, in which a turn may go on beside, becomes its own again where the
// agent returns to it.
func (l *Listener) followSession(m *projects.Mission, a sessions.Adapter, r missions.HookRequest, e sessions.Event) {
	if e.SessionID == "" {
		return
	}
	m.TakeToolName(a, e)
	anew := e.Source == "clear" || BeginsNewSession(m, e)
	if e.PID > 0 && !(projects.IsForeignAdapter(a) && m.Live.HasKeeper()) {
		if m.Live.AgentNamed = true; m.Live.Agent == nil || m.Live.Agent.PID != e.PID || m.Live.Agent.Liveness() == lock.Gone {
			owner := l.agents.ProcessByPID(e.PID)
			m.Live.Agent = &owner
		}
	}
	if e.SessionID == m.Stored.Session {
		m.Live.BoundSession, m.Live.ProcessSession = e.SessionID, &projects.ProcessSession{PID: e.PID, Session: e.SessionID}
		if e.Transcript != "" {
			m.Binding.SessionPath = e.Transcript
		}
		m.Diverged = m.Diverged && e.Kind != sessions.KindPrompt
		return
	}
	returns := returnsToSession(m, e)
	m.Diverged = m.Diverged && !returns
	switch {
	case isFromLeftSession(m, e) && !returns:
		return
	case returns:
		conversations.ReturnToConversation(m, e.SessionID)
		m.Live.TurnSession = e.SessionID
	case anew:
		conversations.LeaveConversation(&m.Stored)
		m.Live.HookTally, m.Live.TurnSession = nil, e.SessionID
	}
	conversations.SwitchSession(m, e.SessionID, e.Transcript)
	m.Live.BoundSession, m.Live.ProcessSession = e.SessionID, &projects.ProcessSession{PID: e.PID, Session: e.SessionID}
	if m.Binding.SessionPath == "" && !projects.IsForeignAdapter(a) {
		m.Binding.SessionPath = a.Path(m.AdapterEnv(), e.Cwd, e.SessionID)
	}
}

// mayRewindConversation reports whether an event between turns, the end of a session, may be that
// its user goes back in it: of an agent that goes on in another file then, and says no
// more of it before the next prompt. Where there is a keeper, that says if it ended.
func mayRewindConversation(m *projects.Mission, a sessions.Adapter, e sessions.Event) bool {
	_, segmented := a.(sessions.Segmented)
	return segmented && e.Kind == sessions.KindSessionEnd && m.Live.HasKeeper() && !missions.InTurn(m.Lifecycle) && missions.HasAgent(m.Lifecycle)
}

// missionEvent is what an event of the mission's agent means for its lifecycle, nil for
// nothing.
func missionEvent(m *projects.Mission, a sessions.Adapter, e sessions.Event) missions.Event {
	switch {
	case m.IsToolSessionEnd(a, e):
		return missions.TurnEnded{}
	case mayRewindConversation(m, a, e):
		return nil
	}
	what, _ := lifecycleEvent(e)
	return what
}
