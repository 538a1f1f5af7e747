package missions

import (
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

// StatusLine is what an agent's status line tells of its mission.
type StatusLine struct {
	Mission  string    `json:"mission"`           // its name
	Address  string    `json:"address,omitempty"` // of the last snapshot
	Turn     int       `json:"turn"`
	State    StateName `json:"state"`
	Snapshot time.Time `json:"snapshot"` // when the last one was taken
	Action   string    `json:"pending_action,omitempty"`
	Problems int       `json:"problems,omitempty"`
	Stopped  string    `json:"stopped,omitempty"` // why no snapshots are taken now; "" if they are
}

// statusLine is what there is to say of the session that draws its status line;
// nil if it is no mission's. It adopts nothing and changes nothing.
func (l *Local) statusLine(a sessions.Adapter, r HookRequest, e sessions.Event) *StatusLine {
	m := l.rememberedSession(a.Name(), e.SessionID)
	if named, err := l.missionByID(r.Caller.Mission); m == nil && r.Caller.Mission != "" && err == nil && l.speaksFor(named, a, e) {
		m = named
	}
	if m == nil {
		m = l.missionOfSession(a.Name(), e.SessionID)
	}
	if m == nil {
		return nil
	}
	v := l.view(m)
	return &StatusLine{Mission: v.Name, Address: v.HeadAt, Turn: v.Turn, State: v.State, Snapshot: m.tip.At, Action: v.Action, Problems: len(v.Problems), Stopped: l.space.stopped()}
}
