package missions

import (
	"context"
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
)

// begins reports whether an event, if it is the start of a session, is that of
// the mission's agent: not of another process on the same conversation. A turn is
// left only by what is known to leave one, and goes on after its conversation was
// summed up in the middle of it.
func (m *loaded) begins(e sessions.Event) bool {
	if e.Kind != sessions.KindSessionStart {
		return true
	}
	return !m.anotherProcess(e) && (!InTurn(m.life) || e.Source != "startup" && e.Source != compacted || m.beginsAnew(e))
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
	leaves := func(m *loaded) (bool, error) { return m.beginsAnew(e) && InTurn(m.life), nil }
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
