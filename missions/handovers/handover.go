package handovers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// OwnHandover makes a handover this process's, which is at it until it lets go.
func (s *Scheduler) OwnHandover(h *projects.Handover) {
	h.Owner = s.Self
	s.Handovers.Store(h.ID, true)
}

func (s *Scheduler) ReleaseHandover(h *projects.Handover) { s.Handovers.Delete(h.ID) }

// BeginHandover marks the mission's agent as one that is about to be ended, if
// that is needed for what was asked for; nil if not. The caller holds the
// workspace, and goes on with handOver when it does not any more, or lets go.
func (s *Scheduler) BeginHandover(ctx context.Context, m *projects.Mission, a projects.Action, queued bool) (*projects.Handover, error) {
	if !presence.CanRelaunchAgent(m) {
		return nil, nil
	}
	switches, err := s.switchesConversation(ctx, m, a)
	if err != nil || !switches {
		return nil, err
	}
	h := &projects.Handover{ID: s.NewID(), LaunchID: m.Live.LaunchID, Action: a, Queued: queued, TipBefore: m.Tip.ID.String()}
	s.OwnHandover(h)
	m.Live.Handover = h
	failpoint.Hit("handover.begin")
	s.SaveLiveState(m)
	failpoint.Hit("handover.begun")
	return h, nil
}

// CarryOutHandover ends the agent, carries out what was asked for and lets the keeper
// launch the agent again, unless it need not be ended any more. It is not to be
// interrupted: ctx must not end with whoever asked.
func (s *Scheduler) CarryOutHandover(ctx context.Context, m *projects.Mission, h *projects.Handover) (result missions.RestoreResult, ended bool, err error) {
	defer s.ReleaseHandover(h)
	m, instead, err := s.ConfirmHandover(ctx, m, h)
	if err != nil {
		return missions.RestoreResult{}, false, err
	}
	if instead != nil {
		return *instead, false, nil
	}
	missions.Notify(ctx, missions.Notice{Text: "ending the agent of " + m.Name})
	if err := s.endAgent(ctx, m, h); err != nil {
		return missions.RestoreResult{}, false, err
	}
	result, err = s.CompleteHandover(ctx, m, h.ID)
	return result, true, err
}

// CompleteHandover carries out what an agent was ended for, and says so for its
// keeper.
func (s *Scheduler) CompleteHandover(ctx context.Context, m *projects.Mission, id string) (missions.RestoreResult, error) {
	var result missions.RestoreResult
	var failed error
	err := s.WithWorkspaceLock(ctx, m, func(m *projects.Mission) error {
		h := m.Live.Handover
		if !h.IsOpen() || h.ID != id || h.Owner != s.Self {
			return takenOverError(m, h)
		}
		m.Live.Agent, m.Live.KeeperChild, m.Live.BoundSession = nil, nil, ""
		if failed = s.endTurnByForce(ctx, m); failed == nil {
			result, failed = s.performHandoverAction(ctx, m, h)
			result.NotTakenUp = h.NotTakenUp
		}
		if failed != nil && h.Queued {
			s.restores.NoteActionNotDone(ctx, m, h.Action, failed)
		}
		s.endHandover(m, h, result, failed)
		return nil
	})
	if err == nil {
		return result, failed
	}
	// Not even begun, as in a workspace that is gone: the keeper is not to wait.
	return result, errors.Join(err, s.WithMissionLock(ctx, m, s.WithWorkspaceLock, func(m *projects.Mission) error {
		if h := m.Live.Handover; h.IsOpen() && h.ID == id && h.Owner == s.Self {
			s.endHandover(m, h, result, err)
		}
		return nil
	}))
}

// endHandover says that the agent may be launched again, if a keeper is there who
// would. The caller holds the mission.
func (s *Scheduler) endHandover(m *projects.Mission, h *projects.Handover, r missions.RestoreResult, failed error) {
	h.Done, h.Banner = true, handoverBanner(h, m, r, failed)
	m.Live.Handover, m.Live.Notice = h, h.Banner
	if !m.Live.HasKeeper() {
		m.Live.Handover = nil
	}
	failpoint.Hit("handover.carried")
	s.SaveLiveState(m)
	failpoint.Hit("handover.done")
}

// endTurnByForce ends the turn in which the agent was ended, by force.
func (s *Scheduler) endTurnByForce(ctx context.Context, m *projects.Mission) error {
	if !missions.InTurn(m.Lifecycle) {
		return nil
	}
	next, effects := missions.Transition(m.Lifecycle, missions.TurnStopped{})
	m.EnterLifecycle(next, s.Now())
	for _, e := range effects {
		if take, ok := e.(missions.TakeSnapshot); ok {
			if _, err := s.snapshots.TakeSnapshot(ctx, m, &snapshots.WantedSnapshot{TakeSnapshot: take, Triggers: missions.Triggers{take.Trigger}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// performHandoverAction carries out what is left to do of a handover: a process that died
// may have done some of it, or all.
func (s *Scheduler) performHandoverAction(ctx context.Context, m *projects.Mission, h *projects.Handover) (missions.RestoreResult, error) {
	if h.PromptsSnapshot == "" { // the conversation is the one that the agent was ended in
		h.NotTakenUp, h.PromptsSnapshot = s.restores.WaitingPrompts(m), m.Tip.ID.String()
		s.SaveLiveState(m)
	}
	if err := s.restores.RequireRestoresEnded(ctx, m); err != nil {
		return missions.RestoreResult{}, err
	}
	last, done, err := handoverOperations(m, h)
	if err != nil {
		return missions.RestoreResult{}, err
	}
	left := h.Action
	if done > 0 {
		if left = remainingAction(left, done); left == (projects.Action{}) {
			target, err := gitstore.ParseID(last.Target)
			if err != nil {
				return missions.RestoreResult{}, err
			}
			return missions.RestoreResult{
				Target: last.Target, TargetAddress: restores.AddressOfSnapshot(m, target), Mission: m.ID, MissionName: m.Name, Workspace: m.Binding.Workspace, Done: true,
				SafetySnapshot: last.SafetySnapshot, Snapshot: last.Snapshot.ID.String(), SessionID: m.Stored.Session,
				Handover: &missions.Handover{How: "relaunched"},
			}.WithEmptyLists(), nil
		}
	}
	return s.PerformAction(ctx, m, left)
}

// remainingAction is what is left to be done after n steps; the zero value for nothing.
func remainingAction(a projects.Action, n int) projects.Action {
	if a.Restore != nil || max(1, undoRequest(a).Steps) <= n {
		return projects.Action{}
	}
	r := undoRequest(a)
	r.Steps = max(1, r.Steps) - n
	if a.Undo != nil {
		return projects.Action{Undo: &r}
	}
	return projects.Action{Redo: &r}
}

// handoverOperations finds the newest operation that was done in a handover, and counts them.
func handoverOperations(m *projects.Mission, h *projects.Handover) (last restores.PastOperation, n int, err error) {
	for s, err := range m.Project.Store.Snapshots(m.Tip.ID, gitstore.HistoryOptions{}) {
		if err != nil || s.Mission != m.ID || s.ID.String() == h.TipBefore {
			return last, n, err
		}
		op, ok, err := restores.ReadOperation(m, s)
		switch {
		case err != nil:
			return last, n, err
		case ok && op.HandoverID == h.ID:
			if n++; n == 1 {
				last = op
			}
		case ok:
			return last, n, nil
		}
	}
	return last, n, nil
}

// handoverBanner is the line that the user sees before the agent is back.
func handoverBanner(h *projects.Handover, m *projects.Mission, r missions.RestoreResult, failed error) string {
	lost := "what was typed and not sent is lost"
	if len(h.NotTakenUp) > 0 {
		lost += "; " + restores.WaitingPromptsText(h.NotTakenUp, cmp.Or(r.SafetySnapshot, h.PromptsSnapshot))
	}
	if failed != nil {
		return fmt.Sprintf("umbra: %s was not done: %s; the agent goes on as it was, %s", h.Action, strings.Join(strings.Fields(missions.AsError(failed).Message), " "), lost)
	}
	to := r.TargetAddress
	if to == "" {
		to = fmt.Sprintf("%.10s", r.Target)
	}
	again := "umbra undo"
	if h.Action.Undo != nil {
		again = "umbra redo"
	}
	return fmt.Sprintf("umbra: %s to %s; %s; to take it back: %s %s", h.Action.Kind(), to, lost, again, m.Name)
}

const (
	// relaunchPatience is how long a restore waits for the agent to be back.
	relaunchPatience = 15 * time.Second
	// handoverPollInterval is how often it is looked at.
	handoverPollInterval = 20 * time.Millisecond
	// keeperPatience is how long a keeper waits for an answer at once.
	keeperPatience = 20 * time.Second
)

// awaitHandoverPoll waits until a handover is to be looked at again. Its error says that
// whoever asked waits no more, or that the Service is about to end: what is waited
// for may need the one that comes next.
func (s *Scheduler) awaitHandoverPoll(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.Leaving, cancel)()
	return projects.Sleep(ctx, handoverPollInterval)
}

// awaitRelaunch waits until the keeper has launched the agent again, and says
// what became of it.
func (s *Scheduler) awaitRelaunch(ctx context.Context, m *projects.Mission, h *projects.Handover, result *missions.RestoreResult) {
	result.Handover = &missions.Handover{How: "relaunched"}
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
	result.Notes = append(result.Notes, "the agent is not back yet: look at its terminal")
}

// ResumeHandovers goes on with the handovers that nobody is at any more, in missions whose
// agents live on: who began one may have died at any time. It is called from time
// to time by the process that serves.
func (s *Scheduler) ResumeHandovers(ctx context.Context) error {
	var errs []error
	for _, m := range s.LiveMissions() {
		if s.HasUnattendedAction(m) {
			errs = append(errs, s.ResumeHandover(ctx, m))
		}
	}
	return errors.Join(errs...)
}

// ResumeHandover is TakeUp for one mission.
func (s *Scheduler) ResumeHandover(ctx context.Context, m *projects.Mission) error {
	return s.withWorkspaceLockBriefly(ctx, m, func(m *projects.Mission) error {
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

// resumePatience is how long a busy workspace is waited for: it is looked at again.
const resumePatience = 200 * time.Millisecond

// withWorkspaceLockBriefly is holding for what does not wait for a busy workspace.
func (s *Scheduler) withWorkspaceLockBriefly(ctx context.Context, m *projects.Mission, fn func(*projects.Mission) error) error {
	limited, cancel := context.WithTimeout(ctx, resumePatience)
	defer cancel()
	return s.WithWorkspaceLock(limited, m, fn)
}

// HasUnattendedAction reports whether there is a handover that nobody is at, other than one that
// the keeper asks for, or something that waits for the end of a turn that is over, and
// surely.
func (s *Scheduler) HasUnattendedAction(m *projects.Mission) bool {
	if h := m.Live.Handover; h != nil {
		return h.IsOpen() && !s.IsHandoverOwned(h) && (presence.CanRelaunchAgent(m) || !m.Live.HasKeeper())
	}
	return m.Live.QueuedRestore != nil && !missions.InTurn(m.Lifecycle) && s.presence.ActivityAfterTurn(m) == presence.AtRest
}

// WithdrawHandover takes a handover back whose process died, where the agent goes on all
// the same, or no keeper is left that would launch another. What had waited for the
// end of a turn waits again.
func (s *Scheduler) WithdrawHandover(m *projects.Mission) {
	h := m.Live.Handover
	if !h.IsOpen() || s.IsHandoverOwned(h) || m.Live.HasKeeper() && !presence.CanRelaunchAgent(m) {
		return
	}
	if m.Live.Handover = nil; h.Queued && m.Live.QueuedRestore == nil {
		m.Live.QueuedRestore = &h.Action
	}
}

// RelaunchAfterHandover answers a keeper whose agent has ended for a handover: with the launch
// of the next one, once all is done. It reports false for any other end.
func (s *Scheduler) RelaunchAfterHandover(ctx context.Context, m *projects.Mission, r missions.KeepRequest) (missions.KeepResult, bool, error) {
	for deadline := s.Now().Add(keeperPatience); ; {
		now, err := s.LoadMission(m.Project, m.ID)
		if err != nil {
			return missions.KeepResult{Do: missions.DoExit}, true, err
		}
		h := now.Live.Handover
		switch {
		case h == nil || h.LaunchID != r.Launch:
			return missions.KeepResult{}, false, nil
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

// takeOverHandover goes on with a handover whose process has died.
func (s *Scheduler) takeOverHandover(ctx context.Context, m *projects.Mission, id string) error {
	mine := false
	err := s.WithWorkspaceLock(ctx, m, func(m *projects.Mission) error {
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

// prepareRelaunch prepares the launch that ends a handover. Asked again, because its
// answer was cut off, it prepares another.
func (s *Scheduler) prepareRelaunch(ctx context.Context, m *projects.Mission, r missions.KeepRequest) (missions.KeepResult, error) {
	next := missions.KeepResult{Do: missions.DoRelaunch, Banner: m.Live.Handover.Banner}
	err := s.WithWorkspaceLock(ctx, m, func(m *projects.Mission) error {
		h := m.Live.Handover
		if h == nil || h.LaunchID != r.Launch {
			return missions.Errorf(missions.KindFailed, "umbra mission resume "+m.Name, "the agent of %s was launched by another", m.Name)
		}
		failpoint.Hit("handover.relaunch")
		launch, err := s.agents.PrepareLaunch(ctx, m, missions.LaunchRequest{Caller: r.Caller, KeeperPID: r.KeeperPID, Resume: true})
		failpoint.Hit("handover.prepared")
		next.Launch, next.Banner = &launch, h.Banner
		return err
	})
	return next, err
}
