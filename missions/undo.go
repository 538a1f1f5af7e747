package missions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/sessions"
)

// past is an operation in a mission's history.
type past struct {
	operation
	snapshot *gitstore.Snapshot
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
		return RestoreResult{}, Errorf(KindUsage, "umbra "+kind+" "+m.Name+" -n 2", "%d is no number of steps", r.Steps)
	}
	r.Mission = m.ID // whatever happens until it is done
	if kind == "undo" {
		return l.do(ctx, m, asked{Undo: &r})
	}
	return l.do(ctx, m, asked{Redo: &r})
}

// stepLocked undoes or redoes. The caller holds the workspace.
func (l *Local) stepLocked(ctx context.Context, m *loaded, r UndoRequest, kind string) (RestoreResult, error) {
	if r.Preview {
		return l.foreseeStep(ctx, m, r, kind)
	}
	if result, ended, err := l.endInterrupted(ctx, m, kind); ended || err != nil {
		return result, err
	}
	if err := l.refuseInterrupted(ctx, m); err != nil {
		return RestoreResult{}, err
	}
	if !r.Force {
		if err := l.neighbourInTurn(m); err != nil {
			return RestoreResult{}, err
		}
	}
	return l.stepEach(ctx, m, r, kind)
}

// stepSwitches is switches for an undo or redo. One that is refused switches
// nothing: whoever carries it out says why.
func (l *Local) stepSwitches(ctx context.Context, m *loaded, r UndoRequest, kind string) (bool, error) {
	if found, err := l.eachCutOff(m, func(*journal.Operation, journal.Phase) error { return nil }); found || err != nil {
		return false, err
	}
	steps := max(1, r.Steps)
	list, err := m.stepsBack(kind, steps)
	if err != nil {
		return false, err
	}
	later, err := m.later(list[0], r.Known)
	if err != nil {
		return false, err
	}
	if !r.Force && (later != "" || l.neighbourInTurn(m) != nil) {
		return false, nil
	}
	j := &job{kind: kind, files: &filesPlan{}}
	if err := l.planGit(ctx, m, j, list[0].snapshot); err != nil || len(j.refusals) > 0 && !r.Force {
		return false, err
	}
	return slices.ContainsFunc(list, func(op past) bool { return op.Before != "" }), nil
}

// stepEach takes the steps asked for, or none if there are not as many.
func (l *Local) stepEach(ctx context.Context, m *loaded, r UndoRequest, kind string) (RestoreResult, error) {
	steps := max(1, r.Steps)
	list, err := m.stepsBack(kind, steps)
	if err == nil {
		err = r.Known.still(m, list, kind)
	}
	if err != nil {
		return RestoreResult{}, err
	}
	var all RestoreResult
	for i := range steps {
		result, err := l.stepOnce(ctx, m, r, kind, list[i])
		if err != nil {
			if i > 0 {
				err = fmt.Errorf("after %d of %d steps: %w", i, steps, err)
			}
			return result, err
		}
		all = result.after(all)
	}
	return all, nil
}

// after adds what was done to what an earlier step had done.
func (r RestoreResult) after(first RestoreResult) RestoreResult {
	merge := func(a, b []string) []string {
		return slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(a), b...))))
	}
	if !first.Done {
		return r
	}
	r.Modify, r.Create, r.Delete = merge(first.Modify, r.Modify), merge(first.Create, r.Create), merge(first.Delete, r.Delete)
	r.Keep, r.Displaced = append(first.Keep, r.Keep...), append(first.Displaced, r.Displaced...)
	r.Notes, r.Partial, r.Safety = append(first.Notes, r.Notes...), first.Partial || r.Partial, first.Safety
	return r
}

// stepOnce undoes or redoes one operation. The caller holds the workspace.
func (l *Local) stepOnce(ctx context.Context, m *loaded, r UndoRequest, kind string, op past) (RestoreResult, error) {
	j, later, err := m.stepJob(op, r, kind)
	if err != nil {
		return RestoreResult{}, err
	}
	if later != nil && !r.Force {
		return l.previewStep(ctx, m, j, op, later)
	}
	if err := l.planStep(ctx, m, j, op, false); err != nil {
		return RestoreResult{}, err
	}
	if err := l.planGit(ctx, m, j, op.snapshot); err != nil {
		return RestoreResult{}, err
	}
	if len(j.refusals) > 0 && !r.Force {
		return j.result, joinRefusals(j.refusals)
	}
	return l.runRestore(ctx, m, j, r.Caller)
}

// stepJob is the undo or redo of one operation, not planned yet, and its refusal
// where the user has gone on since.
func (m *loaded) stepJob(op past, r UndoRequest, kind string) (j *job, refusal *Error, err error) {
	id, err := gitstore.ParseID(op.Safety)
	if err != nil {
		return nil, nil, Errorf(KindDamaged, "umbra doctor", "operation %s: %w", op.ID, err)
	}
	target, err := m.project.store.Snapshot(id)
	if err != nil {
		return nil, nil, Errorf(KindDamaged, "umbra doctor", "operation %s: %w", op.ID, err)
	}
	j = &job{kind: kind, target: target, takesID: op.ID}
	j.result = RestoreResult{Target: target.ID.String(), Address: m.addressOf(target.ID), Mission: m.ID, Name: m.Name, Workspace: m.bind.Workspace}
	later, err := m.later(op, r.Known)
	if later != "" {
		hint := "umbra " + kind + " " + m.Name + " --force"
		if InTurn(m.life) {
			hint += " --when-idle"
		}
		refusal = Errorf(KindConflict, hint, "%s since that %s: what was changed there stays, the rest would go back", later, op.Kind)
	}
	return j, refusal, err
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
	if op.Before != "" && op.Before != m.stored.Session {
		talk, err := l.formerTalk(m, j.target, op)
		if err != nil {
			return err
		}
		j.talk = talk
	}
	j.result = j.result.filled()
	return nil
}

// formerTalk is the conversation from before an operation: its own file, or a
// copy made from the snapshot of that time if the agent has cleaned it up.
func (l *Local) formerTalk(m *loaded, safety *gitstore.Snapshot, op past) (*talkPlan, error) {
	if _, err := os.Stat(op.BeforePath); err == nil {
		return &talkPlan{session: op.Before, path: op.BeforePath}, nil
	}
	plan, err := l.cutAt(m.project, safety, m.bind.Session)
	if errors.Is(err, sessions.ErrNoSession) {
		return &talkPlan{session: op.Before, path: op.BeforePath}, nil // it was never written
	}
	return plan, err
}

// stepsBack is standing, or an error if there are not as many.
func (m *loaded) stepsBack(kind string, n int) ([]past, error) {
	list, err := m.standing(kind, n)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, Errorf(KindNotFound, "umbra log --ops lists them", "nothing to %s on %s", kind, m.Name)
	case len(list) < n:
		return nil, Errorf(KindNotFound, fmt.Sprintf("umbra %s %s -n %d", kind, m.Name, len(list)), "there are only %d to %s on %s", len(list), kind, m.Name)
	}
	return list, nil
}

// standing lists the newest n operations that undo or redo can take back, the
// next one first, reading no further back than that. An undo takes the newest
// from what is done, a redo brings it back, and any other operation ends what
// could be done again.
func (m *loaded) standing(kind string, n int) ([]past, error) {
	var list []past
	answered := 0 // of those that come, by what was met
	for s, err := range m.project.store.Snapshots(m.tip.ID, gitstore.HistoryOptions{}) {
		if err != nil || s.Mission != m.ID || len(list) == n {
			return list, err
		}
		op, ok, err := m.operationOf(s)
		if err != nil {
			return list, err
		}
		if !ok {
			continue
		}
		if kind == "redo" && op.Kind != "undo" && op.Kind != "redo" {
			return list, nil
		}
		switch {
		case (op.Kind == "undo") == (kind == "undo"):
			answered++
		case answered > 0:
			answered--
		default:
			list = append(list, op)
		}
	}
	return list, nil
}

// operationOf reads the operation that a snapshot records. Only the mission's
// own count: a fork does not undo what happened to its parent.
func (m *loaded) operationOf(s *gitstore.Snapshot) (past, bool, error) {
	if s.Mission != m.ID || triggersOf(s).operation() == "" {
		return past{}, false, nil
	}
	doc, err := m.project.recordDoc(s, operationDoc)
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

// later says how much the agent's user has gone on since an operation: in turns or,
// where the agent tells nobody when one begins, in prompts of the conversation. It
// is "" where nothing came since. A turn that ran when the step was asked for, and was
// known to, is not later.
func (m *loaded) later(op past, known *Known) (string, error) {
	running := 0
	if known != nil && (known.Turn == 0 || known.Turn > op.snapshot.Turn) {
		running = 1
	}
	if m.life.LastTurn() > 0 {
		return ran(m.life.LastTurn()-op.snapshot.Turn-running, "a turn ran", "turns ran"), nil
	}
	then, err := m.project.storedAt(op.snapshot.Record)
	if err != nil || m.Talk == nil || then.Talk == nil || m.Talk.Session != then.Talk.Session {
		return "", err
	}
	return ran(m.Talk.Tally.Prompts-then.Talk.Tally.Prompts-running, "a prompt was sent", "prompts were sent"), nil
}

func ran(n int, one, more string) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return one
	}
	return itoa(n) + " " + more
}
