package events

import (
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
)

// statusLine is what there is to say of the session that draws its status line;
// nil if it is no mission's. It adopts nothing and changes nothing.
func (l *Listener) statusLine(a sessions.Adapter, r missions.HookRequest, e sessions.Event) *missions.StatusLine {
	m := l.RememberedSessionMission(a.Name(), e.SessionID)
	if named, err := l.MissionByID(r.Caller.Mission); m == nil && r.Caller.Mission != "" && err == nil && l.isOwnSession(named, a, e) {
		m = named
	}
	if m == nil {
		m = l.missionOfSession(a.Name(), e.SessionID)
	}
	if m == nil {
		return nil
	}
	v := l.presence.MissionView(m)
	return &missions.StatusLine{Mission: v.Name, Address: v.HeadAddress, Turn: v.Turn, State: v.State, Snapshot: m.Tip.At, Action: v.PendingAction, Problems: len(v.Problems), ForkOf: v.SideForkOf, Stopped: l.Space.ShortReason(), Ends: l.presence.IdleEnd(m)}
}
