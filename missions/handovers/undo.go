package handovers

import (
	"context"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
)

// Undo takes back the newest of Umbra's operations on a mission that still
// stands: the paths that are as it left them go back, the rest are kept.
func (s *Scheduler) Undo(ctx context.Context, r missions.UndoRequest) (missions.RestoreResult, error) {
	return s.undoOrRedo(ctx, r, "undo")
}

// Redo takes back the newest undo.
func (s *Scheduler) Redo(ctx context.Context, r missions.UndoRequest) (missions.RestoreResult, error) {
	return s.undoOrRedo(ctx, r, "redo")
}

func (s *Scheduler) undoOrRedo(ctx context.Context, r missions.UndoRequest, kind string) (missions.RestoreResult, error) {
	m, err := s.addresses.FindMission(ctx, r.Caller, r.Mission, addresses.InProject)
	if err != nil {
		return missions.RestoreResult{}, err
	}
	if r.Steps < 0 {
		return missions.RestoreResult{}, missions.Errorf(missions.KindUsage, "umbra "+kind+" "+m.Name+" -n 2", "%d is no number of steps", r.Steps)
	}
	r.Mission = m.ID // whatever happens until it is done
	if kind == "undo" {
		return s.RunAction(ctx, m, projects.Action{Undo: &r})
	}
	return s.RunAction(ctx, m, projects.Action{Redo: &r})
}

// undoOrRedoLocked undoes or redoes. The caller holds the workspace.
func (s *Scheduler) undoOrRedoLocked(ctx context.Context, m *projects.Mission, r missions.UndoRequest, kind string) (missions.RestoreResult, error) {
	if r.Preview {
		return s.previewUndoOrRedo(ctx, m, r, kind)
	}
	if result, ended, err := s.restores.EndInterruptedRestore(ctx, m, kind); ended || err != nil {
		return result, err
	}
	if err := s.restores.RequireRestoresEnded(ctx, m); err != nil {
		return missions.RestoreResult{}, err
	}
	if err := s.LentError(m); err != nil {
		return missions.RestoreResult{}, err
	}
	if !r.Force {
		if err := s.restores.CheckNeighbours(m); err != nil {
			return missions.RestoreResult{}, err
		}
	}
	return s.performSteps(ctx, m, r, kind)
}

// stepsSwitchConversation is switchesConversation for an undo or redo. Steps that would
// be refused switch nothing: whoever carries them out says why.
func (s *Scheduler) stepsSwitchConversation(ctx context.Context, m *projects.Mission, r missions.UndoRequest, kind string) (bool, error) {
	if found, err := s.restores.EachUnfinishedRestore(m, func(*journal.Operation, journal.Phase) error { return nil }); found || err != nil {
		return false, err
	}
	steps := max(1, r.Steps)
	list, err := restores.RequireUndoableOperations(m, kind, steps)
	if err != nil {
		return false, err
	}
	later, err := restores.ActivitySince(m, list[0], r.Known)
	if err != nil {
		return false, err
	}
	if !r.Force && (later != "" || s.restores.CheckNeighbours(m) != nil) {
		return false, nil
	}
	j := &restores.Job{Kind: kind, Files: &restores.FilesPlan{}}
	if err := s.restores.PlanGit(ctx, m, j, list[0].Snapshot); err != nil || len(j.Refusals) > 0 && !r.Force {
		return false, err
	}
	return slices.ContainsFunc(list, func(op restores.PastOperation) bool { return op.SessionBefore != "" }), nil
}

// performSteps takes all of the steps, or none if there are not as many.
func (s *Scheduler) performSteps(ctx context.Context, m *projects.Mission, r missions.UndoRequest, kind string) (missions.RestoreResult, error) {
	steps := max(1, r.Steps)
	list, err := restores.RequireUndoableOperations(m, kind, steps)
	if err == nil {
		err = checkKnownOperations(r.Known, m, list, kind)
	}
	if err != nil {
		return missions.RestoreResult{}, err
	}
	var all missions.RestoreResult
	for i := range steps {
		result, err := s.restores.PerformStep(ctx, m, r, kind, list[i])
		if err != nil {
			if i > 0 {
				err = fmt.Errorf("after %d of %d steps: %w", i, steps, err)
			}
			return result, err
		}
		all = result.WithEarlier(all)
	}
	return all, nil
}
