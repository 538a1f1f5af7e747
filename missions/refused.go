package missions

import (
	"context"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

// refused is a call of a hook that told nothing, since it could not be read. What it was
// about is lost: of a prompt, the snapshot before its turn.
type refused struct {
	At  time.Time `json:"at"`
	Why string    `json:"why"`
}

func (r refused) String() string {
	return "a call of a hook could not be read at " + r.At.Local().Format(time.DateTime) + ", and what it told is lost: " + r.Why
}

// noteRefused keeps why a call could not be read for status, until a prompt is heard.
func (l *Local) noteRefused(ctx context.Context, a sessions.Adapter, r HookRequest, why error) {
	m := l.refusedOf(a, r)
	if m == nil || l.home.ReadOnly() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, problemPatience)
	defer cancel()
	err := l.metaHeld(ctx, m, l.holding, func(m *loaded) error {
		m.live.Refused = &refused{At: l.now(), Why: AsError(why).Message}
		l.saveLive(m)
		return nil
	})
	if err != nil {
		l.log.Warn("note that a hook could not be read", "mission", m.ID, "error", err)
	}
}

// refusedOf is the mission whose agent made a call that does not say of which session it
// is: the one that its environment names, or else the only live one of that agent where it
// was made; nil if that is not known.
func (l *Local) refusedOf(a sessions.Adapter, r HookRequest) *loaded {
	if r.Caller.Mission != "" {
		m, err := l.missionByID(r.Caller.Mission)
		if err != nil || m.Agent != a.Name() {
			return nil
		}
		return m
	}
	at, err := l.stand(r.Caller)
	if err != nil || at.project == nil {
		return nil
	}
	var of *loaded
	all, _ := l.missionsOf(at.project)
	for _, m := range all {
		if m.Agent != a.Name() || !HasAgent(m.life) || !within(m.bind.Workspace, at.Dir) {
			continue
		}
		if of != nil {
			return nil
		}
		of = m
	}
	return of
}
