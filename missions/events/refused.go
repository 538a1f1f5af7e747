package events

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// noteRefusedCall keeps, for status, why a hook's call could not be read, until the next
// prompt.
func (l *Listener) noteRefusedCall(ctx context.Context, a sessions.Adapter, r missions.HookRequest, why error) {
	m := l.missionOfRefusedCall(a, r)
	if m == nil || l.Home.CheckWritable() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, problemPatience)
	defer cancel()
	err := l.WithMissionLock(ctx, m, l.WithWorkspaceLock, func(m *projects.Mission) error {
		m.Live.RefusedCall = &projects.RefusedCall{At: l.Now(), Why: missions.AsError(why).Message}
		l.SaveLiveState(m)
		return nil
	})
	if err != nil {
		l.Logger.Warn("note that a hook could not be read", "mission", m.ID, "error", err)
	}
}

// missionOfRefusedCall is the mission whose agent made a call that could not be read: the one
// that its environment names, or else the only live mission of that agent in the call's
// directory; nil if there are several.
func (l *Listener) missionOfRefusedCall(a sessions.Adapter, r missions.HookRequest) *projects.Mission {
	if r.Caller.Mission != "" {
		m, err := l.MissionByID(r.Caller.Mission)
		if err != nil || m.Agent != a.Name() {
			return nil
		}
		return m
	}
	at, err := l.addresses.LocateCaller(r.Caller)
	if err != nil || at.Project == nil {
		return nil
	}
	var of *projects.Mission
	all, _ := l.ProjectMissions(at.Project)
	for _, m := range all {
		if m.Agent != a.Name() || !missions.HasAgent(m.Lifecycle) || !home.IsWithin(m.Binding.Workspace, at.Dir) {
			continue
		}
		if of != nil {
			return nil
		}
		of = m
	}
	return of
}
