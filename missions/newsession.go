package missions

import (
	"context"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/sessions"
)

// begins reports whether an event, if it is the start of a session, begins something in
// the mission. A turn is left only by what is known to leave one, and goes on after its
// conversation was summed up in the middle of it.
func (m *loaded) begins(e sessions.Event) bool {
	if e.Kind != sessions.KindSessionStart {
		return true
	}
	return !InTurn(m.life) || e.Source != "startup" && e.Source != compacted || m.beginsAnew(e)
}

// left reports whether an event is of a session that the mission has left.
func (m *loaded) left(e sessions.Event) bool {
	return e.SessionID != m.stored.Session && slices.Contains(m.Sessions, e.SessionID)
}

// returns reports whether the mission's agent goes on in a session that the mission has
// left, be it for /clear or a restore: its user has opened it again or, where the agent
// was never taken out of it, speaks there. A turn that was left goes on without either;
// and a hook that outlives its agent says nothing of the one that there is now.
func (m *loaded) returns(e sessions.Event) bool {
	spoken := e.Kind == sessions.KindPrompt || e.Kind == sessions.KindSessionStart && e.Source == "resume" || e.Lone
	if !spoken || e.Agent != "" || !m.left(e) {
		return false
	}
	if e.PID == 0 { // it may be late, of the agent before, until the one that lives has spoken
		return m.live.liveness() != lock.Alive || m.live.kept() && m.live.Spoke
	}
	return lock.Process(e.PID, "").Liveness() != lock.Gone
}

// tooLate reports whether an event begins something in a session that the mission has
// left, and does not return to: hooks outlive the agent that a restore has ended.
func (m *loaded) tooLate(e sessions.Event) bool {
	return (e.Kind == sessions.KindPrompt || e.Kind == sessions.KindSessionStart) && m.left(e) && !m.returns(e)
}

// beginsAnew reports whether the agent of a mission with a keeper begins, in the same
// process, another session that it calls a first one: what Codex and OpenCode do at
// /new. OpenCode does so in the middle of a turn too, which goes on beside.
func (m *loaded) beginsAnew(e sessions.Event) bool {
	return e.Kind == sessions.KindSessionStart && e.Source == "startup" && e.Agent == "" && e.PID > 0 &&
		m.stored.Session != "" && e.SessionID != m.stored.Session && !slices.Contains(m.Sessions, e.SessionID) &&
		m.live.kept() && m.live.speaksFrom(e.PID)
}

// leaveTurnBehind ends the turn that an agent leaves for another session, while the mission
// still has the one it was said in: the snapshot of its end is to have that.
func (l *Local) leaveTurnBehind(ctx context.Context, m *loaded, e sessions.Event) error {
	leaves := func(m *loaded) (bool, error) { return (m.beginsAnew(e) || m.returns(e)) && InTurn(m.life), nil }
	if ok, _ := leaves(m); !ok {
		return nil
	}
	_, err := l.submit(ctx, m.project, m.ID, &request{event: SessionBegan{}, heard: leaves})
	return err
}

// endsFormerTurn reports whether an event is the end of a turn that was begun in a
// session which the mission has left in the middle of it, and not of the turn that
// runs.
func (m *loaded) endsFormerTurn(e sessions.Event) bool {
	_, running := m.life.(Running)
	return running && (e.Kind == sessions.KindStop || e.Kind == sessions.KindError) && m.leftSession(e)
}

// leftSession reports whether an event is of a session that the mission has left, and
// that nobody has prompted since.
func (m *loaded) leftSession(e sessions.Event) bool {
	return slices.Contains(m.Sessions, e.SessionID) && m.live.TurnOf != "" && m.live.TurnOf != e.SessionID
}

// endsForAnother reports whether an event is the end of a session that a keeper's
// mission has left, or is about to: the mission goes on in another one, and its
// keeper says when it does not.
func (m *loaded) endsForAnother(e sessions.Event) bool {
	return e.Kind == sessions.KindSessionEnd && m.live.kept() && (m.live.Handover != nil || m.left(e))
}

// anotherProcess reports whether an event is known to come from another process
// than the mission's agent, while that lives.
func (m *loaded) anotherProcess(e sessions.Event) bool {
	a := m.live.Agent
	return e.PID > 0 && a != nil && a.PID != e.PID && a.Liveness() == lock.Alive
}

// followSession binds a mission to the session its agent speaks in. One that the
// mission has left, in which a turn may go on beside, becomes its own again where the
// agent returns to it.
func (l *Local) followSession(m *loaded, a sessions.Adapter, r HookRequest, e sessions.Event) {
	if e.SessionID == "" {
		return
	}
	m.introduce(a, e)
	anew := e.Source == "clear" || m.beginsAnew(e)
	if e.PID > 0 && !(isForeign(a) && m.live.kept()) {
		if m.live.Named = true; m.live.Agent == nil || m.live.Agent.PID != e.PID || m.live.Agent.Liveness() == lock.Gone {
			owner := l.processOf(e.PID)
			m.live.Agent = &owner
		}
	}
	if e.SessionID == m.stored.Session {
		m.live.Bound, m.live.In = e.SessionID, &heardIn{e.PID, e.SessionID}
		if e.Transcript != "" {
			m.bind.Session = e.Transcript
		}
		m.Diverged = m.Diverged && e.Kind != sessions.KindPrompt
		return
	}
	returns := m.returns(e)
	m.Diverged = m.Diverged && !returns
	switch {
	case m.left(e) && !returns:
		return
	case returns:
		m.returnTalk(e.SessionID)
		m.live.TurnOf = e.SessionID
	case anew:
		m.leaveTalk()
		m.live.Told, m.live.TurnOf = nil, e.SessionID
	}
	m.follow(e.SessionID, e.Transcript)
	m.live.Bound, m.live.In = e.SessionID, &heardIn{e.PID, e.SessionID}
	if m.bind.Session == "" && !isForeign(a) {
		m.bind.Session = a.Path(m.adapterEnv(), e.Cwd, e.SessionID)
	}
}

// mayGoBack reports whether an event between turns, the end of a session, may be that
// its user goes back in it: of an agent that goes on in another file then, and says no
// more of it before the next prompt. Where there is a keeper, that says if it ended.
func (m *loaded) mayGoBack(a sessions.Adapter, e sessions.Event) bool {
	_, segmented := a.(sessions.Segmented)
	return segmented && e.Kind == sessions.KindSessionEnd && m.live.kept() && !InTurn(m.life) && HasAgent(m.life)
}

// meaning is what an event of the mission's agent means for its lifecycle, nil for
// nothing.
func (m *loaded) meaning(a sessions.Adapter, e sessions.Event) Event {
	switch {
	case m.leavesSession(a, e):
		return TurnEnded{}
	case m.mayGoBack(a, e):
		return nil
	}
	what, _ := eventOf(e)
	return what
}
