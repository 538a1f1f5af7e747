package missions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/umbra-vcs/umbra/gitstore"
)

// past is an operation in a mission's history.
type past struct {
	operation
	snapshot step
}

// Undo takes back the newest of Umbra's operations on a mission that still
// stands: the paths that are as it left them go back, the rest are kept.
func (l *Local) Undo(ctx context.Context, r UndoRequest) (RestoreResult, error) {
	return l.stepOps(ctx, r, "undo")
}

// Redo takes back the newest undo.
func (l *Local) Redo(ctx context.Context, r UndoRequest) (RestoreResult, error) {
	return l.stepOps(ctx, r, "redo")
}

func (l *Local) stepOps(ctx context.Context, r UndoRequest, kind string) (RestoreResult, error) {
	m, err := l.findMission(ctx, r.Caller, r.Mission, writing)
	if err != nil {
		return RestoreResult{}, err
	}
	if r.Steps < 0 {
		return RestoreResult{}, Errorf(KindUsage, "umbra "+kind+" -n 2", "%d is no number of steps", r.Steps)
	}
	var result RestoreResult
	err = l.locked(ctx, m, func(m *loaded) error {
		if InTurn(m.life) && !r.Force {
			return inTurn(m)
		}
		var ended bool
		var err error
		if result, ended, err = l.endInterrupted(ctx, m, kind); ended || err != nil {
			return err
		}
		if err := l.finishCutOff(ctx, m); err != nil {
			return err
		}
		for range max(1, r.Steps) {
			if result, err = l.stepOnce(ctx, m, r, kind); err != nil {
				return err
			}
		}
		return nil
	})
	return result, err
}

// stepOnce undoes or redoes one operation. The caller holds the workspace.
func (l *Local) stepOnce(ctx context.Context, m *loaded, r UndoRequest, kind string) (RestoreResult, error) {
	op, err := l.standing(m, kind)
	if err != nil {
		return RestoreResult{}, err
	}
	id, err := gitstore.ParseID(op.Safety)
	if err != nil {
		return RestoreResult{}, Errorf(KindDamaged, "umbra doctor", "operation %s: %w", op.ID, err)
	}
	target, err := m.project.store.Snapshot(id)
	if err != nil {
		return RestoreResult{}, Errorf(KindDamaged, "umbra doctor", "operation %s: %w", op.ID, err)
	}
	j := &job{kind: kind, target: target, takesID: op.ID}
	j.result = RestoreResult{Target: target.ID.String(), Mission: m.ID, Workspace: m.bind.Workspace}
	later := m.life.LastTurn() - op.snapshot.Turn
	if later > 0 && !r.Force {
		e := Errorf(KindConflict, "umbra "+kind+" --force", "%d turns ran since that %s: what they changed stays, the rest would go back", later, op.Kind)
		return l.previewStep(ctx, m, j, op, e)
	}
	if err := l.planStep(ctx, m, j, op, false); err != nil {
		return RestoreResult{}, err
	}
	return l.runRestore(ctx, m, j)
}

// previewStep adds the plan to a refusal.
func (l *Local) previewStep(ctx context.Context, m *loaded, j *job, op past, refusal *Error) (RestoreResult, error) {
	if err := l.planStep(ctx, m, j, op, true); err != nil {
		return RestoreResult{}, errors.Join(refusal, err)
	}
	refusal.Details, _ = json.Marshal(j.result)
	return j.result, refusal
}

// planStep plans the inverse of an operation.
func (l *Local) planStep(ctx context.Context, m *loaded, j *job, op past, preview bool) error {
	if op.Plan != nil {
		present, err := l.safety(ctx, m, j, preview)
		if err != nil {
			return err
		}
		if j.files, err = l.planInverse(m, present, op.operation, j.target); err != nil {
			return err
		}
		j.files.describe(&j.result)
	}
	if op.Before != "" {
		if _, err := os.Stat(op.BeforePath); err == nil || op.Before != m.stored.Session {
			j.talk = &talkPlan{session: op.Before, path: op.BeforePath}
		}
	}
	j.result = j.result.filled()
	return nil
}

// standing finds the operation that undo or redo is about: undos cancel the
// operations before them, redos the undos.
func (l *Local) standing(m *loaded, kind string) (past, error) {
	var found *past
	undone, redone := 0, 0
	err := m.project.eachTurn(m.tip.ID, func(turn []step) error {
		for _, s := range turn {
			op, ok, err := m.operationOf(s)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			switch {
			case op.Kind == "undo" && redone > 0:
				redone--
			case op.Kind == "undo" && kind == "redo":
				found = &op
				return errStop
			case op.Kind == "undo":
				undone++
			case op.Kind == "redo" && kind == "undo" && undone == 0:
				found = &op
				return errStop
			case op.Kind == "redo" && undone > 0:
				undone--
			case op.Kind == "redo":
				redone++
			case kind == "redo":
				return errStop // a new restore ends what could be done again
			case undone > 0:
				undone--
			default:
				found = &op
				return errStop
			}
		}
		return nil
	})
	if err == nil && found == nil {
		return past{}, Errorf(KindNotFound, "umbra log --ops lists them", "nothing to %s on %s", kind, m.Name)
	}
	if err != nil {
		return past{}, err
	}
	return *found, nil
}

// operationOf reads the operation that a snapshot records. Only the mission's
// own count: a fork does not undo what happened to its parent.
func (m *loaded) operationOf(s step) (past, bool, error) {
	triggers := triggersOf(s.Snapshot)
	if s.Mission != m.ID || !triggers.Has(TriggerRestore) && !triggers.Has(TriggerUndo) {
		return past{}, false, nil
	}
	doc, err := m.project.recordDoc(s.Snapshot, operationDoc)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return past{}, false, nil
	}
	if err != nil {
		return past{}, false, err
	}
	p := past{snapshot: s}
	if err := parseDoc(operationDoc, doc, &p.operation); err != nil {
		return past{}, false, fmt.Errorf("snapshot %s: %w", s.ID.Short(), err)
	}
	return p, true, nil
}
