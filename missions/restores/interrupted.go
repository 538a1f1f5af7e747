package restores

import (
	"context"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// EndInterruptedRestore ends an interrupted restore as the user chose: undo takes it
// back, redo finishes it. It reports whether there was an interrupted restore.
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
	withhold(m, work.Doc)
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

// changedPaths sorts the paths that were changed by what the plan meant to do with
// them.
func (w *RestoreWork) changedPaths(o *restore.Outcome) (modify, create, remove []string) {
	did := func(actions ...restore.Action) []string {
		return slices.DeleteFunc(w.Document.Plan.Paths(actions...), func(path string) bool {
			_, done := slices.BinarySearch(o.Done, path)
			return !done
		})
	}
	return did(restore.Replace, restore.Chmod), did(restore.Create), did(restore.Delete)
}

// leaveInterruptedToUser keeps what is there now in a snapshot, and leaves the restore
// to the user.
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
