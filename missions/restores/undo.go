package restores

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

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

// NewStepJob is the undo or redo of one operation, before it is planned. refusal says
// that the user has gone on since.
func NewStepJob(m *projects.Mission, op PastOperation, r missions.UndoRequest, kind string) (j *Job, refusal *missions.Error, err error) {
	id, err := gitstore.ParseID(op.SafetySnapshot)
	if err != nil {
		return nil, nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "operation %s: %w", op.ID, err)
	}
	target, err := m.Project.Store.Snapshot(id)
	if err != nil {
		return nil, nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "operation %s: %w", op.ID, err)
	}
	j = &Job{Kind: kind, target: target, takesBack: op.Operation}
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
		present, err := rs.captureSafety(ctx, m, j, nil, preview)
		if err != nil {
			return err
		}
		if j.Files, err = rs.planInverse(m, present, op.Operation, j.target); err != nil {
			return err
		}
		j.Files.describeTo(&j.Result)
	}
	if op.SessionBefore != "" && op.SessionBefore != m.Stored.Session {
		conversation, err := rs.formerConversation(m, j.target, op)
		if err != nil {
			return err
		}
		j.Conversation = conversation
	}
	j.Result = j.Result.WithEmptyLists()
	return nil
}

// formerConversation is the conversation from before an operation: its own file or, if
// the agent has deleted it, a copy made from the safety snapshot.
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
