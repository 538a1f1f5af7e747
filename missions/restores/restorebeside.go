package restores

import (
	"context"
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// applyRestore puts the files of a planned restore in place. Where the first
// rename tells that the journal can't be renamed from, which nothing told of
// before (a project's quota, some network file systems), everything has been
// taken back, and it is done again with the files staged in the workspace. The
// caller closes the work; with an error there is none.
func (rs *Restorer) applyRestore(ctx context.Context, m *projects.Mission, doc JournalDoc, j *Job) (*RestoreWork, *restore.Outcome, error) {
	work, err := rs.BeginRestore(m, doc, j, restore.PrepareOptions{})
	if err != nil {
		return nil, nil, err
	}
	outcome, err := work.apply(ctx)
	if isCleanCrossDeviceFailure(err) && len(work.Document.Beside) < len(work.Document.Plan.Changes) {
		rs.Logger.Info("a restore is staged in the workspace", "workspace", m.Binding.Workspace, "reason", err)
		finished := rs.endRestore(ctx, m, work)
		work.Close()
		if finished != nil {
			return nil, nil, fmt.Errorf("restore: %w; the workspace is as it was", errors.Join(err, finished))
		}
		doc.Operation.ID = rs.NewID()
		if work, err = rs.BeginRestore(m, doc, j, restore.PrepareOptions{Beside: true}); err != nil {
			return nil, nil, err
		}
		outcome, err = work.apply(ctx)
	}
	if err != nil {
		err = rs.endFailedRestore(ctx, m, j, work, err)
		work.Close()
		return nil, nil, err
	}
	return work, outcome, nil
}

// apply carries out the files' side, if there is one.
func (w *RestoreWork) apply(ctx context.Context) (*restore.Outcome, error) {
	if w.Document == nil {
		return &restore.Outcome{}, nil
	}
	return w.Apply(ctx)
}

// isCleanCrossDeviceFailure reports whether a restore failed at a rename between file
// systems and has left nothing behind: neither a change nor another writer's
// bytes.
func isCleanCrossDeviceFailure(err error) bool {
	if !errors.Is(err, beneath.ErrCrossDevice) {
		return false
	}
	var failure *restore.Failure
	if !errors.As(err, &failure) {
		return true // while it was staged
	}
	o := failure.Outcome
	return failure.Back == nil && (o == nil || len(o.Left) == 0 && len(o.Displaced) == 0)
}
