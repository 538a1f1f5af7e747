package events

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// missionOfEvent finds the mission of an event: the mission that the environment names, if
// the session is its own; else the mission that has the session; else a new mission. It is
// nil without an error for a session that is not to be adopted. That is remembered, since
// such a session's hooks report each of its tools.
func (l *Listener) missionOfEvent(ctx context.Context, a sessions.Adapter, r missions.HookRequest, e sessions.Event) (*projects.Mission, error) {
	if e.SessionID == "" {
		return nil, fmt.Errorf("%w: no session id", sessions.ErrBadPayload)
	}
	key := SessionKey(a.Name(), e.SessionID)
	if m, joined, err := l.joinAdoption(ctx, r.Caller, key, (&report{Listener: l, adapter: a, request: r, event: e}).handleLate); joined {
		if agents.IsRefusal(err) {
			err = refusalIfCommand(e, err)
		}
		return m, err
	}
	var parent *projects.Mission
	if r.Caller.Mission != "" {
		m, err := l.MissionByID(r.Caller.Mission)
		if err == nil && l.isOwnSession(m, a, e) {
			return m, nil
		}
		if err == nil {
			parent = m
		}
	}
	if m := l.RememberedSessionMission(a.Name(), e.SessionID); m != nil {
		return m, nil
	}
	if l.agents.Unadopted.HasSession(key, e, l.Now()) {
		return nil, nil
	}
	m, err := l.findOrAdoptMission(ctx, a, r, e, parent)
	l.agents.Unadopted.NoteSession(key, e, m == nil && err == nil, l.Now())
	return m, err
}

// findOrAdoptMission finds the mission of a session among all, or adopts the session.
func (l *Listener) findOrAdoptMission(
	ctx context.Context, a sessions.Adapter, r missions.HookRequest, e sessions.Event, parent *projects.Mission,
) (*projects.Mission, error) {
	if m := l.findSessionMission(a.Name(), e.SessionID); m != nil {
		return m, nil
	}
	if m := l.missionOfProcess(a, e); m != nil {
		return m, nil
	}
	if e.Kind == sessions.KindSessionEnd {
		return nil, nil // nothing was seen of it, and nothing more will be
	}
	if m := l.worktrees.Unspoken(a.Name(), e.Cwd); m != nil {
		l.MissionCache.RememberSession(m, e.SessionID)
		return m, nil
	}
	return l.adoptSession(ctx, a, r, e, parent)
}

// isOwnSession reports whether the session of an event is one of the mission that the
// environment names: its session, its first, a former one, or one that the same agent
// process has moved on to. Any other session is of an agent inside the agent.
func (l *Listener) isOwnSession(m *projects.Mission, a sessions.Adapter, e sessions.Event) bool {
	switch {
	case l.CanToolJoin(m, a):
		return true
	case m.Agent != a.Name():
		return m.Stored.Session == "" && len(m.Command) > 0 && a.Runs(m.Command)
	case e.SessionID == m.Stored.Session, slices.Contains(m.FormerSessions, e.SessionID):
		return true
	case e.Source == sessions.SourceBackground:
		return false
	case m.Stored.Session != "" && m.Live.BoundSession == "" && !m.Live.HasKeeper():
		// A session in the background outlives the agent that began it, and may go on in another.
		other := cmp.Or(l.findSessionMission(a.Name(), e.SessionID), l.missionOfProcess(a, e))
		return other == nil || other.ID == m.ID
	case m.Stored.Session == "" || m.Live.BoundSession == "":
		return true
	case e.Kind == sessions.KindSessionStart && e.Source != "startup":
		return knowMission(m, e).Process.Speaker != SpeakerOther
	}
	return BeginsNewSession(m, e)
}

// missionOfProcess finds the mission whose agent, started by hand, goes on in
// another session: after /clear and the like.
func (l *Listener) missionOfProcess(a sessions.Adapter, e sessions.Event) *projects.Mission {
	if e.Kind != sessions.KindSessionStart || e.Source == "startup" || e.PID <= 0 {
		return nil
	}
	all, _ := l.AllProjects()
	for _, p := range all {
		list, _ := l.ProjectMissions(p)
		for _, m := range list {
			if m.Agent == a.Name() && missions.HasAgent(m.Lifecycle) && m.Live.IsAgentProcess(e.PID) {
				return m
			}
		}
	}
	return nil
}

// findSessionMission finds the mission that has, or had, a session: where it was found
// last, or among all.
func (l *Listener) findSessionMission(agent, session string) *projects.Mission {
	if m := l.RememberedSessionMission(agent, session); m != nil {
		return m
	}
	m := l.missionOfSession(agent, session)
	if m != nil {
		l.MissionCache.RememberSession(m, session)
	}
	return m
}

// missionOfSession is findSessionMission among all missions.
func (l *Listener) missionOfSession(agent, session string) *projects.Mission {
	all, _ := l.AllProjects()
	id := l.AdoptedID(all, agent, session, "")
	for _, p := range all {
		if m, err := l.LoadMission(p, id); err == nil {
			return m
		}
	}
	var former *projects.Mission
	for _, p := range all {
		list, _ := l.ProjectMissions(p)
		for _, m := range list {
			if m.Agent != agent {
				continue
			}
			if m.Stored.Session == session {
				return m
			}
			if slices.Contains(m.FormerSessions, session) {
				former = m
			}
		}
	}
	return former
}

// BeginsNewSession reports whether an event shows that the agent of a mission with a keeper
// begins another session of the mission.
func BeginsNewSession(m *projects.Mission, e sessions.Event) bool {
	return situation{knowMission(m, e), e}.beginsSession()
}
