package restores

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// PastOperation is an operation in a mission's history.
type PastOperation struct {
	projects.Operation
	Snapshot *gitstore.Snapshot
}

// PerformStep undoes or redoes one operation. The caller holds the workspace.
func (rs *Restorer) PerformStep(ctx context.Context, m *projects.Mission, r missions.UndoRequest, kind string, op PastOperation) (missions.RestoreResult, error) {
	j, later, err := NewStepJob(m, op, r, kind)
	if err != nil {
		return missions.RestoreResult{}, err
	}
	if later != nil && !r.Force {
		return rs.refuseStepWithPlan(ctx, m, j, op, later)
	}
	if err := rs.PlanStep(ctx, m, j, op, false); err != nil {
		return missions.RestoreResult{}, err
	}
	if err := rs.PlanGit(ctx, m, j, op.Snapshot); err != nil {
		return missions.RestoreResult{}, err
	}
	if len(j.Refusals) > 0 && !r.Force {
		return j.Result, joinRefusals(j.Refusals)
	}
	return rs.RunRestore(ctx, m, j, r.Caller)
}

// NewStepJob is the undo or redo of one operation, not planned yet, and its refusal
// where the user has gone on since.
func NewStepJob(m *projects.Mission, op PastOperation, r missions.UndoRequest, kind string) (j *Job, refusal *missions.Error, err error) {
	id, err := gitstore.ParseID(op.SafetySnapshot)
	if err != nil {
		return nil, nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "operation %s: %w", op.ID, err)
	}
	target, err := m.Project.Store.Snapshot(id)
	if err != nil {
		return nil, nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "operation %s: %w", op.ID, err)
	}
	j = &Job{Kind: kind, target: target, takesBackID: op.ID}
	j.Result = missions.RestoreResult{Target: target.ID.String(), TargetAddress: AddressOfSnapshot(m, target.ID), Mission: m.ID, MissionName: m.Name, Workspace: m.Binding.Workspace}
	later, err := ActivitySince(m, op, r.Known)
	if later != "" {
		hint := "umbra " + kind + " " + m.Name + " --force"
		if missions.InTurn(m.Lifecycle) {
			hint += " --when-idle"
		}
		refusal = missions.Errorf(missions.KindConflict, hint, "%s since that %s: what was changed there stays, the rest would go back", later, op.Kind)
	}
	return j, refusal, err
}

// refuseStepWithPlan adds the plan to a refusal.
func (rs *Restorer) refuseStepWithPlan(ctx context.Context, m *projects.Mission, j *Job, op PastOperation, refusal *missions.Error) (missions.RestoreResult, error) {
	if err := rs.PlanStep(ctx, m, j, op, true); err != nil {
		return missions.RestoreResult{}, errors.Join(refusal, err)
	}
	refusal.Details, _ = json.Marshal(j.Result)
	return j.Result, refusal
}

// PlanStep plans the inverse of an operation.
func (rs *Restorer) PlanStep(ctx context.Context, m *projects.Mission, j *Job, op PastOperation, preview bool) error {
	if op.Plan != nil {
		present, err := rs.captureSafety(ctx, m, j, preview)
		if err != nil {
			return err
		}
		if j.Files, err = rs.planInverse(m, present, op.Operation, j.target); err != nil {
			return err
		}
		j.Files.describeTo(&j.Result)
	}
	if op.SessionBefore != "" && op.SessionBefore != m.Stored.Session {
		talk, err := rs.formerConversation(m, j.target, op)
		if err != nil {
			return err
		}
		j.Conversation = talk
	}
	j.Result = j.Result.WithEmptyLists()
	return nil
}

// formerConversation is the conversation from before an operation: its own file, or a
// copy made from the snapshot of that time if the agent has cleaned it up.
func (rs *Restorer) formerConversation(m *projects.Mission, safety *gitstore.Snapshot, op PastOperation) (*conversations.ConversationPlan, error) {
	if _, err := os.Stat(op.SessionBeforePath); err == nil {
		return &conversations.ConversationPlan{ReturnSession: op.SessionBefore, ReturnPath: op.SessionBeforePath}, nil
	}
	plan, err := rs.conversations.PlanCutAtSnapshot(m.Project, safety, m.Binding.SessionPath)
	if errors.Is(err, sessions.ErrNoSession) {
		return &conversations.ConversationPlan{ReturnSession: op.SessionBefore, ReturnPath: op.SessionBeforePath}, nil // it was never written
	}
	return plan, err
}

// RequireUndoableOperations is standing, or an error if there are not as many.
func RequireUndoableOperations(m *projects.Mission, kind string, n int) ([]PastOperation, error) {
	list, err := UndoableOperations(m, kind, n)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, missions.Errorf(missions.KindNotFound, "umbra log --ops lists them", "nothing to %s on %s", kind, m.Name)
	case len(list) < n:
		return nil, missions.Errorf(missions.KindNotFound, fmt.Sprintf("umbra %s %s -n %d", kind, m.Name, len(list)), "there are only %d to %s on %s", len(list), kind, m.Name)
	}
	return list, nil
}

// UndoableOperations lists the newest n operations that undo or redo can take back, the
// next one first, reading no further back than that. An undo takes the newest
// from what is done, a redo brings it back, and any other operation ends what
// could be done again.
func UndoableOperations(m *projects.Mission, kind string, n int) ([]PastOperation, error) {
	var list []PastOperation
	answered := 0 // of those that come, by what was met
	for s, err := range m.Project.Store.Snapshots(m.Tip.ID, gitstore.HistoryOptions{}) {
		if err != nil || s.Mission != m.ID || len(list) == n {
			return list, err
		}
		op, ok, err := ReadOperation(m, s)
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

// ReadOperation reads the operation that a snapshot records. Only the mission's
// own count: a fork does not undo what happened to its parent.
func ReadOperation(m *projects.Mission, s *gitstore.Snapshot) (PastOperation, bool, error) {
	if s.Mission != m.ID || projects.TriggersOf(s).Operation() == "" {
		return PastOperation{}, false, nil
	}
	doc, err := m.Project.ReadRecordDoc(s, projects.OperationDoc)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return PastOperation{}, false, nil
	}
	if err != nil {
		return PastOperation{}, false, err
	}
	p := PastOperation{Snapshot: s}
	if err := projects.ParseDoc(projects.OperationDoc, doc, &p.Operation); err != nil {
		return PastOperation{}, false, fmt.Errorf("snapshot %s: %w", s.ID.Short(), err)
	}
	return p, true, nil
}

// ActivitySince says how much the agent's user has gone on since an operation: in turns or,
// where the agent tells nobody when one begins, in prompts of the conversation. It
// is "" where nothing came since. A turn that ran when the step was asked for, and was
// known to, is not later.
func ActivitySince(m *projects.Mission, op PastOperation, known *missions.KnownOperations) (string, error) {
	running := 0
	if known != nil && (known.Turn == 0 || known.Turn > op.Snapshot.Turn) {
		running = 1
	}
	if m.Lifecycle.LastTurn() > 0 {
		return pluralText(m.Lifecycle.LastTurn()-op.Snapshot.Turn-running, "a turn ran", "turns ran"), nil
	}
	then, err := m.Project.ReadStored(op.Snapshot.Record)
	if err != nil || m.Tally == nil || then.Tally == nil || m.Tally.Session != then.Tally.Session {
		return "", err
	}
	return pluralText(m.Tally.Total.Prompts-then.Tally.Total.Prompts-running, "a prompt was sent", "prompts were sent"), nil
}

func pluralText(n int, one, more string) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return one
	}
	return missions.Itoa(n) + " " + more
}
