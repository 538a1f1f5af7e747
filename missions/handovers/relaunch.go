package handovers

import (
	"context"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

const (
	// relaunchPatience is how long a restore waits for the agent to be back.
	relaunchPatience = 15 * time.Second
	// handoverPollInterval is how often a handover is looked at.
	handoverPollInterval = 20 * time.Millisecond
	// keeperPatience is how long a keeper waits in one call.
	keeperPatience = 20 * time.Second
)

// awaitHandoverPoll waits until a handover is to be looked at again. It fails when the
// caller waits no more, or when the Service is about to end: the next Service may have
// to do what is waited for.
func (s *Scheduler) awaitHandoverPoll(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.Leaving, cancel)()
	return projects.Sleep(ctx, handoverPollInterval)
}

// awaitRelaunch waits until the keeper has launched the agent again, or has ended with an
// agent that has no terminal, and adds to the result what became of the agent.
func (s *Scheduler) awaitRelaunch(ctx context.Context, m *projects.Mission, h *projects.Handover, result *missions.RestoreResult) {
	result.Handover = handoverEnd(m)
	for deadline := s.Now().Add(relaunchPatience); s.Now().Before(deadline); {
		now, err := s.LoadMission(m.Project, m.ID)
		if err != nil {
			return
		}
		if !now.Live.HasKeeper() || !missions.HasAgent(now.Lifecycle) {
			result.Handover = &missions.Handover{How: "resume", Type: "umbra mission resume " + now.Name}
			return
		}
		if now.Live.Handover == nil || now.Live.Handover.ID != h.ID {
			return
		}
		if s.awaitHandoverPoll(ctx) != nil {
			break
		}
	}
	if !m.Live.Headless {
		result.Notes = append(result.Notes, "the agent is not back yet: look at its terminal")
	}
}

// handoverEnd says how an agent goes on that is ended for a handover: its keeper launches
// it again, unless it has no terminal.
func handoverEnd(m *projects.Mission) *missions.Handover {
	if m.Live.Headless {
		return &missions.Handover{How: "resume", Type: "umbra mission resume " + m.Name}
	}
	return &missions.Handover{How: "relaunched"}
}

// RelaunchAfterHandover answers a keeper whose agent was ended for a handover: with the
// next launch, once the action is done. It reports false if the agent ended otherwise.
func (s *Scheduler) RelaunchAfterHandover(ctx context.Context, m *projects.Mission, r missions.KeepRequest) (missions.KeepResult, bool, error) {
	for deadline := s.Now().Add(keeperPatience); ; {
		now, err := s.LoadMission(m.Project, m.ID)
		if err != nil {
			return missions.KeepResult{Do: missions.DoExit}, true, err
		}
		h := now.Live.Handover
		switch {
		case !now.Live.WaitsForHandover(r.Launch):
			if begun, err := (terminal{s}).beginLeaving(ctx, now, r); !begun || err != nil {
				return missions.KeepResult{}, false, err
			}
		case h.Done && h.Action.EndsTerminal() && !now.Live.Beside:
			return (terminal{s}).end(ctx, now, r), true, nil
		case h.Done && h.Next != "":
			next, err := (terminal{s}).prepareNext(ctx, now, r)
			return next, true, err
		case h.Done:
			next, err := s.prepareRelaunch(ctx, now, r)
			return next, true, err
		case !s.IsHandoverOwned(h):
			if err := s.takeOverHandover(ctx, now, h.ID); err != nil {
				return missions.KeepResult{Do: missions.DoExit}, true, err
			}
		case !s.Now().Before(deadline):
			return missions.KeepResult{Do: missions.DoWait}, true, nil
		default:
			if s.awaitHandoverPoll(ctx) != nil {
				return missions.KeepResult{Do: missions.DoWait}, true, ctx.Err()
			}
		}
	}
}

// takeOverHandover continues a handover whose process has died.
func (s *Scheduler) takeOverHandover(ctx context.Context, m *projects.Mission, id string) error {
	mine := false
	err := s.WithMissionLock(ctx, m, s.WithWorkspaceLock, func(m *projects.Mission) error {
		h := m.Live.Handover
		if !h.IsOpen() || h.ID != id || s.IsHandoverOwned(h) {
			return nil
		}
		s.OwnHandover(h)
		mine = true
		failpoint.Hit("handover.take")
		s.SaveLiveState(m)
		failpoint.Hit("handover.taken")
		return nil
	})
	if !mine {
		return err
	}
	defer s.Handovers.Delete(id)
	if err != nil {
		return err
	}
	s.Logger.Info("take over a handover whose process died", "mission", m.ID, "for", id)
	_, err = s.CompleteHandover(context.WithoutCancel(ctx), m, id)
	if err != nil {
		s.Logger.Warn("handover", "mission", m.ID, "error", err) // its banner says it
	}
	return nil
}

// prepareRelaunch prepares the launch that ends a handover. A keeper whose answer was
// cut off asks again and gets another launch.
func (s *Scheduler) prepareRelaunch(ctx context.Context, m *projects.Mission, r missions.KeepRequest) (missions.KeepResult, error) {
	next := missions.KeepResult{Do: missions.DoRelaunch, Banner: m.Live.Handover.Banner}
	err := s.WithWorkspaceLock(ctx, m, func(m *projects.Mission) error {
		h := m.Live.Handover
		if h == nil || h.LaunchID != r.Launch {
			return missions.Errorf(missions.KindFailed, "umbra mission resume "+m.Name, "the agent of %s was launched by another", m.Name)
		}
		failpoint.Hit("handover.relaunch")
		launch, err := s.agents.PrepareLaunch(ctx, m, missions.LaunchRequest{Caller: r.Caller, KeeperPID: r.KeeperPID, Resume: true, Variables: r.Variables})
		failpoint.Hit("handover.prepared")
		next.Launch, next.Banner = &launch, h.Banner
		return err
	})
	return next, err
}
