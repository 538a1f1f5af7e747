package restores

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// RecoverRestore finishes a restore whose process was killed, or takes it back;
// one after which people have gone on working is left to them. It waits for the
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

// RecoverUnfinishedRestores recovers what was cut off in the mission's workspace and reports
// whether there was anything. Where people have gone on working, or it can't be
// done, it is only said: no command but those that restore depends on it. The
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

// RequireRestoresEnded recovers like RecoverUnfinishedRestores, but refuses to go on over a
// restore that waits for the user's decision. The caller holds the workspace.
func (rs *Restorer) RequireRestoresEnded(ctx context.Context, m *projects.Mission) error {
	_, err := rs.EachUnfinishedRestore(m, func(entry *journal.Operation, _ journal.Phase) error {
		return rs.recoverEntry(ctx, m, entry.ID())
	})
	return err
}

// EachUnfinishedRestore calls fn for the restores in the mission's workspace that have not
// ended, and reports whether there were any.
func (rs *Restorer) EachUnfinishedRestore(m *projects.Mission, fn func(*journal.Operation, journal.Phase) error) (found bool, err error) {
	entries, _, err := rs.Journal.List()
	if err != nil {
		return false, fmt.Errorf("read the journal: %w", err)
	}
	for _, entry := range entries {
		phase, _ := entry.Phase()
		if entry.Kind() != JournalKind || phase == journal.Done {
			continue
		}
		var doc JournalDoc
		if err := entry.Document(&doc); err != nil {
			rs.Logger.Warn("read a restore that was cut off", "operation", entry.ID(), "error", err) // doctor says it too
			continue
		}
		if doc.WorkspaceIdentity != m.Binding.Identity || doc.Project != m.Project.Dir {
			continue
		}
		found = true
		if err := fn(entry, phase); err != nil {
			return found, err
		}
	}
	return found, nil
}

// recoverEntry recovers one entry if it is of the mission's workspace. The
// caller holds the workspace, so the entry's process is gone.
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
	how, outcome, err := work.Recover(ctx, func(ctx context.Context) (bool, error) { return rs.isWorkspaceUndisturbed(ctx, m, work) })
	if err != nil {
		return err
	}
	j := &Job{Kind: work.Doc.Operation.Kind}
	switch how {
	case restore.Forward:
		return rs.completeUnlessPublished(ctx, m, work, outcome, j)
	case restore.Back:
		return rs.endRestore(ctx, m, work)
	case restore.Over:
		return rs.settleRestore(ctx, m, work)
	}
	return rs.leaveInterruptedToUser(ctx, m, work)
}

// recoverConversation finishes a restore of the conversation alone.
func (rs *Restorer) recoverConversation(ctx context.Context, m *projects.Mission, work *RestoreWork) error {
	if phase, _ := work.Entry.Phase(); phase == journal.Done {
		return nil
	}
	return rs.completeUnlessPublished(ctx, m, work, &restore.Outcome{}, &Job{Kind: work.Doc.Operation.Kind})
}

// completeUnlessPublished completes a recovered restore, unless its snapshot was published
// before its process died.
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
	for s, err := range m.Project.Store.Snapshots(m.Tip.ID, gitstore.HistoryOptions{}) {
		if err != nil {
			return false, err
		}
		if op, ok, err := ReadOperation(m, s); err != nil || ok && op.ID == operation {
			return ok, err
		}
	}
	return false, nil
}

// isWorkspaceUndisturbed reports whether all paths that the restore did not plan to change
// are as its safety snapshot holds them.
func (rs *Restorer) isWorkspaceUndisturbed(ctx context.Context, m *projects.Mission, work *RestoreWork) (bool, error) {
	present, err := rs.snapshots.PresentSide(ctx, m)
	if err != nil {
		return false, err
	}
	strangers, err := work.Document.Strangers(m.Project.Store, work.Root, present.Tree)
	return len(strangers) == 0, err
}

// leaveInterruptedToUser keeps what is there now in a snapshot, and leaves the rest to the
// user.
func (rs *Restorer) leaveInterruptedToUser(ctx context.Context, m *projects.Mission, work *RestoreWork) error {
	_, err := rs.snapshots.TakeSnapshot(ctx, m, &snapshots.WantedSnapshot{
		TakeSnapshot: missions.TakeSnapshot{Trigger: missions.TriggerManual, Lifecycle: m.Lifecycle, Message: "found after a " + work.Doc.Operation.Kind + " was cut off", OnlyIfChanged: true},
		Triggers:     missions.Triggers{missions.TriggerManual},
	})
	if err != nil {
		return err
	}
	why := missions.Errorf(missions.KindConflict, fmt.Sprintf("umbra undo %s takes it back, umbra redo %s finishes it; paths changed since stay as they are", m.Name, m.Name),
		"a %s of %s was cut off, and people have gone on working in it since", work.Doc.Operation.Kind, m.Name)
	if waits := m.Live.QueuedRestore; waits != nil { // an undo or redo would decide what is the user's to decide
		m.Live.QueuedRestore = nil
		rs.NoteActionNotDone(ctx, m, *waits, why)
	}
	rs.SaveLiveState(m)
	return why
}

// EndInterruptedRestore ends an interrupted restore as the user chose: undo takes it
// back, redo finishes it. It reports whether there was one.
func (rs *Restorer) EndInterruptedRestore(ctx context.Context, m *projects.Mission, kind string) (missions.RestoreResult, bool, error) {
	entries, _, err := rs.Journal.List()
	if err != nil {
		return missions.RestoreResult{}, false, fmt.Errorf("read the journal: %w", err)
	}
	for _, entry := range entries {
		if phase, _ := entry.Phase(); phase != journal.Interrupted {
			continue
		}
		work, err := rs.openRestoreWork(m, entry)
		if err != nil {
			return missions.RestoreResult{}, false, err
		}
		if work == nil {
			continue
		}
		defer work.Close()
		result, err := rs.endInterruptedWork(ctx, m, work, kind)
		return result, true, err
	}
	return missions.RestoreResult{}, false, nil
}

func (rs *Restorer) endInterruptedWork(ctx context.Context, m *projects.Mission, work *RestoreWork, kind string) (missions.RestoreResult, error) {
	j := &Job{Kind: work.Doc.Operation.Kind}
	j.Result = missions.RestoreResult{Target: work.Doc.Operation.Target, Mission: m.ID, MissionName: m.Name, Workspace: m.Binding.Workspace}.WithEmptyLists()
	if id, err := gitstore.ParseID(j.Result.Target); err == nil {
		j.Result.TargetAddress = AddressOfSnapshot(m, id)
	}
	if kind == "redo" {
		outcome, err := work.FinishForward(ctx)
		if err != nil {
			return j.Result, rs.endFailedRestore(ctx, m, j, work, err)
		}
		j.addOutcome(outcome)
		j.Result.Modify, j.Result.Create, j.Result.Delete = work.changedPaths(outcome)
		err = rs.completeRestore(ctx, m, work, outcome, j)
		return j.Result, err
	}
	outcome, err := work.TakeBack()
	if err != nil {
		return j.Result, err
	}
	j.addOutcome(outcome)
	j.Result.Modify, j.Result.Delete, j.Result.Create = work.changedPaths(outcome)
	t, err := rs.snapshots.TakeSnapshot(ctx, m, &snapshots.WantedSnapshot{
		TakeSnapshot: missions.TakeSnapshot{Trigger: missions.TriggerUndo, Lifecycle: m.Lifecycle, Message: "took back a " + work.Doc.Operation.Kind + " that was cut off"},
		Triggers:     missions.Triggers{missions.TriggerUndo}, Displaced: displacedFiles(outcome.Displaced),
	})
	if err != nil {
		return j.Result, err
	}
	rs.SaveLiveState(m)
	j.Result.Done, j.Result.Snapshot = true, t.Snapshot.ID.String()
	return j.Result, rs.endRestore(ctx, m, work)
}

// changedPaths sorts what became of the plan's paths by what the plan meant to do.
func (w *RestoreWork) changedPaths(o *restore.Outcome) (modify, create, remove []string) {
	did := func(actions ...restore.Action) []string {
		return slices.DeleteFunc(w.Document.Plan.Paths(actions...), func(path string) bool {
			_, done := slices.BinarySearch(o.Done, path)
			return !done
		})
	}
	return did(restore.Replace, restore.Chmod), did(restore.Create), did(restore.Delete)
}
