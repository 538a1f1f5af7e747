package restores

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// RecoverRestore finishes a restore whose process was killed, or takes it back. If
// people have gone on working since, it leaves the restore to them. It waits for the
// workspace: a restore that is still at work ends by itself.
func (rs *Restorer) RecoverRestore(ctx context.Context, op *journal.Operation) error {
	var doc JournalDoc
	if err := op.Document(&doc); err != nil {
		return err
	}
	p, err := rs.OpenProject(doc.Project)
	if err != nil {
		return err
	}
	m, err := rs.LoadMission(p, doc.Mission)
	if err != nil {
		return err
	}
	return rs.WithWorkspaceLock(ctx, m, func(m *projects.Mission) error { return rs.recoverEntry(ctx, m, op.ID()) })
}

// RecoverUnfinishedRestores recovers the restores that were cut off in the mission's
// workspace, and reports whether there were any. What it can't recover, or must leave
// to the user, it only says: no command but restore, undo and redo depends on it. The
// caller holds the workspace.
func (rs *Restorer) RecoverUnfinishedRestores(ctx context.Context, m *projects.Mission) (found bool, err error) {
	return rs.EachUnfinishedRestore(m, func(entry *journal.Operation, phase journal.Phase) error {
		if phase == journal.Interrupted {
			return nil
		}
		err := rs.recoverEntry(ctx, m, entry.ID())
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		e := missions.AsError(err)
		hint := e.Hint
		if e.Kind != missions.KindConflict {
			rs.Logger.Warn("recover a restore", "operation", entry.ID(), "error", err)
			hint = "umbra doctor --fix"
		}
		missions.Notify(ctx, missions.Notice{Text: fmt.Sprintf("a restore here was cut off: %s: %s", e.Message, hint)})
		return nil
	})
}

// RequireRestoresEnded recovers like RecoverUnfinishedRestores, but fails if a restore
// waits for the user's decision. The caller holds the workspace.
func (rs *Restorer) RequireRestoresEnded(ctx context.Context, m *projects.Mission) error {
	_, err := rs.EachUnfinishedRestore(m, func(entry *journal.Operation, _ journal.Phase) error {
		return rs.recoverEntry(ctx, m, entry.ID())
	})
	return err
}

// recoverEntry recovers one journal entry, if it is of the mission's workspace. The
// caller holds the workspace, so the process of the entry is gone.
func (rs *Restorer) recoverEntry(ctx context.Context, m *projects.Mission, id string) error {
	entry, err := rs.Journal.Load(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // ended meanwhile
	}
	if err != nil {
		return err
	}
	work, err := rs.openRestoreWork(m, entry)
	if work == nil || err != nil {
		return err
	}
	defer work.Close()
	if m.ID != work.Doc.Mission {
		if m, err = rs.LoadMission(m.Project, work.Doc.Mission); err != nil {
			return err
		}
	}
	if work.Document == nil {
		return rs.recoverConversation(ctx, m, work)
	}
	withhold(m, work.Doc)
	how, outcome, err := work.Recover(ctx, func(ctx context.Context) (bool, error) { return rs.isWorkspaceUndisturbed(ctx, m, work) })
	if err != nil {
		return err
	}
	j := &Job{Kind: work.Doc.Operation.Kind}
	switch how {
	case restore.Forward:
		return rs.completeUnlessPublished(ctx, m, work, outcome, j)
	case restore.Back:
		return endTakenBack(ctx, rs, m, work)
	case restore.Over:
		return rs.settleRestore(ctx, m, work)
	}
	return rs.leaveInterruptedToUser(ctx, m, work)
}

// recoverConversation finishes a restore of the conversation alone. One whose copy the user's
// programs had not made yet has done nothing.
func (rs *Restorer) recoverConversation(ctx context.Context, m *projects.Mission, work *RestoreWork) error {
	if phase, _ := work.Entry.Phase(); phase == journal.Done {
		return nil
	}
	if c := work.Doc.Conversation; c.isToolCopy() && m.Stored.Session != c.Session {
		if _, err := os.Lstat(c.Path); errors.Is(err, fs.ErrNotExist) {
			return rs.endRestore(ctx, m, work)
		}
	}
	return rs.completeUnlessPublished(ctx, m, work, &restore.Outcome{}, &Job{Kind: work.Doc.Operation.Kind})
}

// completeUnlessPublished completes a recovered restore, unless its process published
// the snapshot before it died.
func (rs *Restorer) completeUnlessPublished(ctx context.Context, m *projects.Mission, work *RestoreWork, outcome *restore.Outcome, j *Job) error {
	published, err := hasPublishedOperation(m, work.Doc.Operation.ID)
	if published {
		rs.clearPending(m)
	}
	if published || err != nil {
		return errors.Join(err, rs.endRestore(ctx, m, work))
	}
	return rs.completeRestore(ctx, m, work, outcome, j)
}

// hasPublishedOperation looks for the snapshot of an operation in the mission's history.
func hasPublishedOperation(m *projects.Mission, operation string) (bool, error) {
	for s, err := range m.Project.Store.Snapshots(m.Tip.ID, shadow.HistoryOptions{}) {
		if err != nil {
			return false, err
		}
		if op, ok, err := ReadOperation(m, s); err != nil || ok && op.ID == operation {
			return ok, err
		}
	}
	return false, nil
}

// isWorkspaceUndisturbed reports whether all paths outside of the plan are as the
// safety snapshot holds them.
func (rs *Restorer) isWorkspaceUndisturbed(ctx context.Context, m *projects.Mission, work *RestoreWork) (bool, error) {
	present, err := rs.snapshots.PresentSide(ctx, m)
	if err != nil {
		return false, err
	}
	strangers, err := work.Document.Strangers(m.Project.Store, work.Root, present.Tree)
	return len(strangers) == 0, err
}
