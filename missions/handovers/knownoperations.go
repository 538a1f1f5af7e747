package handovers

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
)

// currentKnowledge is what the user knows who asks for undo or redo steps now, in a
// turn.
func currentKnowledge(m *projects.Mission, steps []restores.PastOperation) *missions.KnownOperations {
	k := &missions.KnownOperations{}
	if !conversations.RunsWithoutHooks(m) { // else the turn may have no number yet
		k.Turn = m.Lifecycle.LastTurn()
	}
	for _, op := range steps {
		k.Operations = append(k.Operations, op.ID)
	}
	return k
}

// checkKnownOperations refuses an undo or redo that waited for the end of a turn if the
// operations have changed since: it would take back others than the user meant.
func checkKnownOperations(k *missions.KnownOperations, m *projects.Mission, steps []restores.PastOperation, kind string) error {
	if k == nil || slices.Equal(currentKnowledge(m, steps).Operations, k.Operations) {
		return nil
	}
	return missions.Errorf(missions.KindConflict, "umbra log --ops lists them; umbra "+kind, "something else was restored on %s since that was asked for", m.Name)
}

// addCurrentKnowledge adds what the user knows now to an undo or redo that is to wait
// for the end of the turn. It refuses what the end of the turn would refuse. The caller
// holds the workspace.
func (s *Scheduler) addCurrentKnowledge(m *projects.Mission, a projects.Action) (projects.Action, error) {
	r, kind := undoRequest(a), a.Kind()
	if found, err := s.restores.EachUnfinishedRestore(m, func(*journal.Operation, journal.Phase) error { return nil }); found || err != nil {
		return a, err // the step is to end that, whatever came since
	}
	list, err := restores.RequireUndoableOperations(m, kind, max(1, r.Steps))
	if err != nil {
		return a, err
	}
	r.Known = currentKnowledge(m, list)
	for _, op := range list {
		_, later, err := restores.NewStepJob(m, op, r, kind)
		if err != nil {
			return a, err
		}
		if later != nil && !r.Force {
			return a, later
		}
	}
	if kind == "redo" {
		return projects.Action{Redo: &r}, nil
	}
	return projects.Action{Undo: &r}, nil
}
