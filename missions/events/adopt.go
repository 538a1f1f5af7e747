package events

import (
	"context"
	"errors"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/worktrees"
	"github.com/umbra-vcs/umbra/sessions"
)

// adoption is a mission being made for a session that a hook has reported. It continues when
// the hook's time is over: the first snapshot of a large workspace takes longer than an agent
// waits.
type adoption struct {
	done       chan struct{} // closed when mission and err are known
	mission    *projects.Mission
	err        error
	lateEvents []lateEvent // what was heard meanwhile; nil once done
}

// lateEvent carries out an event of a mission when the mission is there.
type lateEvent func(context.Context, *projects.Mission)

// errAdopting is the error of a hook that does not wait for the first snapshot any longer.
var errAdopting = errors.New("the first snapshot is still being taken")

// SessionKey names a session among those of all agents.
func SessionKey(agent, session string) string { return agent + " " + session }

// startOrJoinAdoption makes a mission, or waits for the adoption that makes it already.
func (l *Listener) startOrJoinAdoption(ctx context.Context, c missions.Caller, n projects.MissionPlan, later lateEvent) (*projects.Mission, error) {
	if err := l.Space.CheckRoom(); err != nil {
		return nil, err
	}
	if !l.StartWorker() {
		return nil, projects.ErrClosing
	}
	key := SessionKey(n.Agent, n.Session)
	l.mu.Lock()
	a := l.adoptions[key]
	if a == nil {
		a = &adoption{done: make(chan struct{})}
		l.adoptions[key] = a
		go l.carryOutAdoption(a, key, n)
	} else {
		l.Workers.Done()
	}
	l.mu.Unlock()
	return l.awaitAdoption(ctx, c, a, later)
}

// joinAdoption is awaitAdoption, if the session is being adopted.
func (l *Listener) joinAdoption(ctx context.Context, c missions.Caller, key string, later lateEvent) (m *projects.Mission, joined bool, err error) {
	l.mu.Lock()
	a := l.adoptions[key]
	l.mu.Unlock()
	if a == nil {
		return nil, false, nil
	}
	m, err = l.awaitAdoption(ctx, c, a, later)
	return m, true, err
}

// awaitAdoption waits for the mission that is being made for a session, at most as long as a
// hook may. If that is not enough, it returns errAdopting, and later is called when the
// mission is there, in the order of the hooks.
func (l *Listener) awaitAdoption(ctx context.Context, c missions.Caller, a *adoption, later lateEvent) (*projects.Mission, error) {
	limit := time.NewTimer(l.adoptionPatience(ctx, c))
	defer limit.Stop()
	select {
	case <-a.done:
		return a.mission, a.err
	case <-limit.C:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-a.done:
		return a.mission, a.err
	default:
		a.lateEvents = append(a.lateEvents, later)
		return nil, errAdopting
	}
}

// awaitAdopted waits for the mission of a session that is being adopted, longer than joinAdoption,
// for a hook that can do nothing without it. It is nil if none is, or it takes too long.
func (l *Listener) awaitAdopted(ctx context.Context, key string) *projects.Mission {
	l.mu.Lock()
	a := l.adoptions[key]
	l.mu.Unlock()
	if a == nil {
		return nil
	}
	limit := time.NewTimer(worktrees.SourcePatience)
	defer limit.Stop()
	select {
	case <-a.done:
		return a.mission
	case <-limit.C:
	case <-ctx.Done():
	}
	return nil
}

// adoptionPatience leaves a hook the time to say that it does not wait. In a
// process of its own the hook does the work itself, and has all its time for it.
func (l *Listener) adoptionPatience(ctx context.Context, c missions.Caller) time.Duration {
	deadline, limited := ctx.Deadline()
	switch {
	case l.Watching == nil && limited:
		return time.Until(deadline)
	case l.Watching == nil:
		return time.Hour
	case limited:
		return min(time.Duration(l.HookConfig(c).Hooks.MaxWait), time.Until(deadline)/2)
	}
	return time.Duration(l.HookConfig(c).Hooks.MaxWait)
}

// carryOutAdoption makes the mission, then carries out the events that came meanwhile.
func (l *Listener) carryOutAdoption(a *adoption, key string, n projects.MissionPlan) {
	defer l.Workers.Done()
	ctx, cancel := context.WithCancel(l.Closing)
	defer cancel()
	m, err := l.agents.CreateMission(ctx, n)
	if agents.IsRefusal(err) {
		l.agents.Unadopted.NoteRefusal(n.Workspace, err, l.Now())
	}
	for first := true; ; first = false {
		l.mu.Lock()
		later := a.lateEvents
		a.lateEvents = nil
		if first {
			a.mission, a.err = m, err
		}
		if len(later) == 0 || err != nil {
			delete(l.adoptions, key)
			close(a.done)
			l.mu.Unlock()
			break
		}
		l.mu.Unlock()
		for _, tell := range later {
			tell(ctx, m)
		}
	}
	if err == nil && m.Stored.Config == "" {
		l.agents.SaveAdoptedConfig(ctx, m)
	}
	if err != nil && !snapshots.IsRefusedRoot(err) {
		l.Logger.Warn("adopt a session", "agent", n.Agent, "session", n.Session, "error", err)
	}
}

// adoptSession makes a mission of a session that was started by hand. Two hooks at
// once make one mission, since its id follows from the session's.
func (l *Listener) adoptSession(
	ctx context.Context, a sessions.Adapter, r missions.HookRequest, e sessions.Event, parent *projects.Mission,
) (*projects.Mission, error) {
	cwd := e.Cwd
	if cwd == "" {
		cwd = r.Caller.Cwd
	}
	all, _ := l.AllProjects()
	n, err := l.PlanAdoption(all, a, r.Caller, sessions.Session{ID: e.SessionID, Path: e.Transcript, Cwd: cwd})
	if err != nil {
		return nil, err
	}
	if !l.CurrentConfig().Adopt.Adopts(n.Directory.Dir) {
		return nil, nil
	}
	if err := l.agents.Unadopted.BudgetRefusal(n.Workspace, l.Now()); err != nil && e.Kind != sessions.KindSessionStart {
		return nil, refusalIfCommand(e, err)
	}
	n.ToolName, n.ResumeCommand, n.Provisional = e.Program, e.Resume, e.Headless
	n.Lifecycle, n.Name = missions.Idle{}, projects.NameFromPrompt(e.Prompt)
	if parent != nil {
		n.StartedBy = parent.ID
	}
	m, err := l.startOrJoinAdoption(ctx, r.Caller, n, (&report{Listener: l, adapter: a, request: r, event: e}).handleLate)
	if agents.IsRefusal(err) {
		return nil, refusalIfCommand(e, err)
	}
	return m, err
}

// refusalIfCommand is why a workspace was refused, if the user has typed a command of Umbra's
// there. Any other hook is silent where Umbra must not work.
func refusalIfCommand(e sessions.Event, refused error) error {
	if e.Kind == sessions.KindCommand {
		return refused
	}
	return nil
}
