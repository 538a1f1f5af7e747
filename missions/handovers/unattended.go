package handovers

import (
	"context"
	"errors"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// ResumeHandovers continues the handovers and queued actions that no process works on,
// in missions whose agents live. The process that began one may have died at any time.
// The process that serves calls it from time to time.
func (s *Scheduler) ResumeHandovers(ctx context.Context) error {
	var errs []error
	for _, m := range s.LiveMissions() {
		if s.HasUnattendedAction(m) {
			errs = append(errs, s.ResumeHandover(ctx, m))
		}
	}
	return errors.Join(errs...)
}

// ResumeHandover is ResumeHandovers for one mission.
func (s *Scheduler) ResumeHandover(ctx context.Context, m *projects.Mission) error {
	var a projects.Action
	if h, waits := m.Live.Handover, m.Live.QueuedRestore; h != nil {
		a = h.Action
	} else if waits != nil {
		a = *waits
	}
	return holdBriefly(ctx, m, s.holdFor(a), func(m *projects.Mission) error {
		if !s.HasUnattendedAction(m) {
			return nil
		}
		if h := m.Live.Handover; !m.Live.HasKeeper() || h != nil && !h.ToldToEnd && missions.InTurn(m.Lifecycle) {
			s.WithdrawHandover(m)
		}
		switch h := m.Live.Handover; {
		case h.IsOpen():
			s.OwnHandover(h)
			s.SaveLiveState(m)
			if !s.startHandover(m, h) {
				s.ReleaseHandover(h)
			}
			return nil
		case !missions.InTurn(m.Lifecycle):
			s.PerformPendingAction(ctx, m)
		}
		s.SaveLiveState(m)
		return nil
	})
}

// resumePatience is how long ResumeHandover waits for a busy workspace. It is called
// again later.
const resumePatience = 200 * time.Millisecond

// holdBriefly is for callers that do not wait for a busy workspace.
func holdBriefly(ctx context.Context, m *projects.Mission, hold projects.HoldFunc, fn func(*projects.Mission) error) error {
	limited, cancel := context.WithTimeout(ctx, resumePatience)
	defer cancel()
	return hold(limited, m, fn)
}

// HasUnattendedAction reports whether no process works on a handover, or on an action
// that was queued for the end of a turn that is surely over. A handover that its keeper
// asks for does not count.
func (s *Scheduler) HasUnattendedAction(m *projects.Mission) bool {
	if h := m.Live.Handover; h != nil {
		return h.IsOpen() && !s.IsHandoverOwned(h) && (presence.CanRelaunchAgent(m) || !m.Live.HasKeeper())
	}
	return m.Live.QueuedRestore != nil && !missions.InTurn(m.Lifecycle) && s.presence.ActivityAfterTurn(m) == presence.AtRest
}

// WithdrawHandover drops a handover whose process died, if the agent goes on all the
// same, or if no keeper is left to launch another. An action that was queued for the
// end of a turn is queued again.
func (s *Scheduler) WithdrawHandover(m *projects.Mission) {
	h := m.Live.Handover
	if !h.IsOpen() || s.IsHandoverOwned(h) || m.Live.HasKeeper() && !presence.CanRelaunchAgent(m) {
		return
	}
	if m.Live.Handover = nil; h.Queued && !h.IsLeft() && m.Live.QueuedRestore == nil {
		m.Live.QueuedRestore = &h.Action
	}
}
