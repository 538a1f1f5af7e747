package handovers

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
)

// undoRequest is the request of an undo or redo; the zero value for other actions.
func undoRequest(a projects.Action) missions.UndoRequest {
	switch {
	case a.Undo != nil:
		return *a.Undo
	case a.Redo != nil:
		return *a.Redo
	}
	return missions.UndoRequest{}
}

// askerOf is who has asked for an action.
func askerOf(a projects.Action) missions.Caller {
	switch {
	case a.Restore != nil:
		return a.Restore.Caller
	case a.Enter != nil:
		return a.Enter.Caller
	case a.Leave != nil:
		return a.Leave.Caller
	}
	return undoRequest(a).Caller
}

func isActionForced(a projects.Action) bool {
	if a.Restore != nil {
		return a.Restore.Force
	}
	return undoRequest(a).Force
}

func isActionPreview(a projects.Action) bool {
	if a.Restore != nil {
		return a.Restore.Preview
	}
	return undoRequest(a).Preview
}

// isFromOwnAgent reports whether an action comes from the mission's own agent, or from
// a process that the agent has started.
func isFromOwnAgent(a projects.Action, m *projects.Mission) bool {
	return askerOf(a).Mission == m.ID
}

// waitsForTurnEnd reports whether an action is left for the end of the mission's turn:
// because the user asked for that, or because it comes from inside the turn and is not
// forced. What passes the terminal on always waits.
func waitsForTurnEnd(a projects.Action, m *projects.Mission) bool {
	whenIdle := a.Restore != nil && a.Restore.WhenIdle || a.Restore == nil && undoRequest(a).WhenIdle
	return missions.InTurn(m.Lifecycle) && (whenIdle || a.PassesTerminal() || isFromOwnAgent(a, m) && !isActionForced(a))
}

// needsAgentAtRest reports whether the agent must be known to be at rest for an action.
// The agent's own call between turns comes from a hook.
func needsAgentAtRest(a projects.Action, m *projects.Mission) bool {
	return !isActionPreview(a) && !isActionForced(a) && !isFromOwnAgent(a, m)
}

// remainingAction is what is left of an action after n steps; the zero value if nothing
// is left.
func remainingAction(a projects.Action, n int) projects.Action {
	if a.Restore != nil || a.PassesTerminal() || max(1, undoRequest(a).Steps) <= n {
		return projects.Action{}
	}
	r := undoRequest(a)
	r.Steps = max(1, r.Steps) - n
	if a.Undo != nil {
		return projects.Action{Undo: &r}
	}
	return projects.Action{Redo: &r}
}

// RunAction carries out an action when that is possible: at the end of the turn, with a
// handover, or at once. The result says which.
func (s *Scheduler) RunAction(ctx context.Context, m *projects.Mission, a projects.Action) (missions.RestoreResult, error) {
	for {
		if needsAgentAtRest(a, m) {
			var err error
			if m, err = s.presence.WaitUntilSettled(ctx, m); err != nil {
				return missions.RestoreResult{}, err
			}
		}
		result, err := s.tryAction(ctx, m, a)
		if !errors.Is(err, errTurnJustEnded) {
			return result, err
		}
		if err := projects.Sleep(ctx, projects.PollInterval); err != nil {
			return missions.RestoreResult{}, err
		}
		if m, err = s.LoadMission(m.Project, m.ID); err != nil {
			return missions.RestoreResult{}, err
		}
	}
}

// errTurnJustEnded says that the turn has ended since it was looked at, and that the
// agent may go on.
var errTurnJustEnded = errors.New("the turn has just ended")

// tryAction is one try of RunAction. It fails with errTurnJustEnded if the agent may
// not be at rest.
func (s *Scheduler) tryAction(ctx context.Context, m *projects.Mission, a projects.Action) (missions.RestoreResult, error) {
	hold := s.holdFor(a)
	if a.Restore != nil {
		hold = s.WithRecoveredWorkspace
	}
	if isActionPreview(a) {
		seen, done, err := s.snapshots.ScratchView(m)
		if err != nil {
			return missions.RestoreResult{}, err
		}
		defer done()
		m, hold = seen, s.snapshots.HoldWithoutWriting(hold)
	}
	var result missions.RestoreResult
	var begun *projects.Handover
	err := hold(ctx, m, func(m *projects.Mission) (err error) {
		switch {
		case isActionPreview(a):
		case s.IsHandoverOwned(m.Live.Handover):
			return missions.Errorf(missions.KindBusy, "wait a moment and try again", "the agent of %s is being ended for another: %s", m.Name, m.Live.Handover.Action)
		case waitsForTurnEnd(a, m):
			result, err = s.queueAction(ctx, m, a)
			return err
		case missions.InTurn(m.Lifecycle) && !isActionForced(a):
			return restores.InTurnError(m)
		case needsAgentAtRest(a, m) && s.presence.ActivityAfterTurn(m) != presence.AtRest:
			return errTurnJustEnded
		default:
			if begun, err = s.BeginHandover(ctx, m, a, false); begun != nil || err != nil {
				return err
			}
		}
		result, err = s.PerformAction(ctx, m, a)
		return err
	})
	switch {
	case begun == nil:
		return result, err
	case err != nil:
		s.ReleaseHandover(begun)
		return result, err
	}
	if isFromOwnAgent(a, m) && s.startHandover(m, begun) {
		result = queuedResult(m)
		result.Handover = handoverEnd(m)
		return result, nil
	}
	ctx = context.WithoutCancel(ctx) // the agent is to be back, whoever has left
	result, ended, err := s.CarryOutHandover(ctx, m, begun)
	switch {
	case ended && a.PassesTerminal() && err == nil:
		err = terminal{s}.await(ctx, m, begun, &result)
	case ended:
		s.awaitRelaunch(ctx, m, begun, &result)
	}
	return result, err
}

// switchesConversation reports whether an action would change which conversation the
// mission is in. Its error is why the action would be refused now. It changes nothing.
// The caller holds the workspace.
func (s *Scheduler) switchesConversation(ctx context.Context, m *projects.Mission, a projects.Action) (bool, error) {
	if a.PassesTerminal() {
		return true, nil
	}
	if a.Restore == nil {
		return s.stepsSwitchConversation(ctx, m, undoRequest(a), a.Kind())
	}
	if err := s.restores.CheckNeighbours(m); err != nil && !isActionForced(a) {
		return false, err
	}
	target, err := addresses.SnapshotByID(m.Project, a.Restore.Moment)
	if err != nil {
		return false, err
	}
	r := *a.Restore
	r.Preview = true
	job, err := s.restores.PlanRestore(ctx, m, target, r)
	if err != nil {
		return false, err
	}
	return job.Conversation != nil, job.Refusal(r)
}

// PerformAction carries out an action now, whatever the agent does. The caller holds
// the workspace.
func (s *Scheduler) PerformAction(ctx context.Context, m *projects.Mission, a projects.Action) (missions.RestoreResult, error) {
	if a.PassesTerminal() {
		return missions.RestoreResult{}, NoTerminalError(m)
	}
	if a.Restore != nil {
		return s.restoreLocked(ctx, m, *a.Restore)
	}
	return s.undoOrRedoLocked(ctx, m, undoRequest(a), a.Kind())
}
