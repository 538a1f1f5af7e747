package agents

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// StopPatience is how long an agent has to end after SIGTERM.
const StopPatience = 5 * time.Second

// TerminateProcess ends a process by SIGTERM, and by SIGKILL when the patience is over.
// It returns when the process is gone. Before each signal it proves that the pid still
// belongs to this process. A process that no signal ends, such as one that waits for a
// broken disk, is an error after twice the patience.
func TerminateProcess(ctx context.Context, p lock.Owner, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	signal := syscall.SIGTERM
	for sent := false; p.Liveness() == lock.Alive; {
		if !sent {
			if err := syscall.Kill(p.PID, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				return err
			}
			sent = true
		}
		if signal == syscall.SIGTERM && time.Now().After(deadline) {
			signal, sent = syscall.SIGKILL, false
		}
		if time.Now().After(deadline.Add(patience)) {
			return errors.New("it does not end")
		}
		if err := projects.Sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// ProcessByPID describes a process of this machine by its pid.
func (l *Launcher) ProcessByPID(pid int) lock.Owner { return lock.Process(pid, "") }

// Stop ends the agents of missions: SIGTERM, and SIGKILL after five seconds.
func (l *Launcher) Stop(ctx context.Context, r missions.StopRequest) ([]missions.Mission, error) {
	list, err := l.addresses.FindMissions(ctx, r.Caller, r.Missions)
	if err != nil {
		return nil, err
	}
	stopped := []missions.Mission{}
	for _, m := range list {
		if err := l.StopAgent(ctx, m, r.Force); err != nil {
			return stopped, err
		}
		fresh, err := l.LoadMission(m.Project, m.ID)
		if err != nil {
			return stopped, err
		}
		stopped = append(stopped, l.presence.MissionView(fresh))
	}
	return stopped, nil
}

// awaitAgentStart waits until a keeper that lives has reported which process its agent is.
// The agent may be heard before that.
func awaitAgentStart(ctx context.Context, d *projects.Desk, m *projects.Mission) (*projects.Mission, error) {
	for deadline := d.Now().Add(StopPatience); d.Now().Before(deadline); {
		if k := m.Live.Keeper; m.Live.Agent != nil || k == nil || k.Liveness() != lock.Alive {
			break
		}
		if err := projects.Sleep(ctx, projects.PollInterval); err != nil {
			return m, err
		}
		fresh, err := d.LoadMission(m.Project, m.ID)
		if err != nil {
			return m, err
		}
		m = fresh
	}
	return m, nil
}

// awaitOrphanEnd waits for the end of an agent whose keeper was killed. Its terminal has
// mostly gone with the keeper, and it ends a moment later. One that goes on for another
// mission, as after a command that begins a new conversation, is not waited for.
func awaitOrphanEnd(ctx context.Context, d *projects.Desk, m *projects.Mission) (*projects.Mission, error) {
	if !m.Live.IsOrphaned() {
		return m, nil
	}
	orphan := *m.Live.KeeperChild
	all, _ := d.ProjectMissions(m.Project) // of one that can't be read it is not known
	for _, o := range all {
		if agent := o.Live.Agent; o.ID != m.ID && agent != nil && agent.PID == orphan.PID && missions.HasAgent(o.Lifecycle) {
			return m, nil
		}
	}
	for deadline := d.Now().Add(StopPatience); orphan.Liveness() == lock.Alive && d.Now().Before(deadline); {
		if err := projects.Sleep(ctx, projects.PollInterval); err != nil {
			return m, err
		}
	}
	return d.LoadMission(m.Project, m.ID)
}

// StopAgent ends the agent of one mission.
func (l *Launcher) StopAgent(ctx context.Context, m *projects.Mission, force bool) error {
	if l.IsHandoverOwned(m.Live.Handover) {
		return missions.Errorf(missions.KindBusy, "wait a moment and try again", "the agent of %s is being ended: %s", m.Name, m.Live.Handover)
	}
	m, err := awaitAgentStart(ctx, l.Desk, m)
	if err != nil {
		return err
	}
	if !missions.HasAgent(m.Lifecycle) && !m.Live.HasKeeper() {
		return nil // stopped already
	}
	known := m.Live.Agent
	if known == nil {
		if pid, alive := l.presence.SessionProcess(m); alive {
			owner := l.ProcessByPID(pid)
			known = &owner
		}
	}
	switch {
	case known == nil && !force && !l.presence.IsAgentGone(m):
		return missions.Errorf(missions.KindFailed, presence.HiddenAgentHint(m), "which process %s runs in is not known", m.Name)
	case l.presence.IsAgentHidden(m) && !force:
		return missions.Errorf(missions.KindFailed, presence.HiddenAgentHint(m), "the process of %s can't be seen from here: it runs in another container, or too little was noted of it", m.Name)
	case known == nil || known.Liveness() != lock.Alive:
		return l.presence.CloseLostMission(ctx, m)
	}
	for _, p := range []*lock.Owner{l.presence.WaitedForProcess(m, known), known} {
		if p == nil {
			continue
		}
		if err := TerminateProcess(ctx, *p, StopPatience); err != nil {
			return missions.Errorf(missions.KindFailed, "", "stop %s (pid %d): %w", m.Name, p.PID, err)
		}
	}
	// Its keeper reports the end; without one nobody does.
	deadline := l.Now().Add(StopPatience)
	for m.Live.HasKeeper() && l.Now().Before(deadline) {
		fresh, err := l.LoadMission(m.Project, m.ID)
		if err != nil || !missions.HasAgent(fresh.Lifecycle) {
			return err
		}
		if err := projects.Sleep(ctx, projects.PollInterval); err != nil {
			return err
		}
		m = fresh
	}
	return l.closeStoppedMission(ctx, m)
}

// closeStoppedMission closes a mission whose agent Umbra has ended. Another process may
// have seen the agent gone, and closed the mission, before.
func (l *Launcher) closeStoppedMission(ctx context.Context, m *projects.Mission) error {
	return l.presence.CloseDeadMission(ctx, m, func(m *projects.Mission) (missions.Event, bool) {
		c, closed := m.Lifecycle.(missions.Closed)
		return missions.AgentStopped{}, missions.HasAgent(m.Lifecycle) || closed && c.Reason == missions.CloseReasonLost
	})
}
