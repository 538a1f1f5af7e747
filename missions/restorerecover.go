package missions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/restore"
)

// recoverRestore finishes a restore whose process was killed, or takes it back;
// one after which people have gone on working is left to them. It waits for the
// workspace: a restore that is still at work ends by itself.
func (l *Local) recoverRestore(ctx context.Context, op *journal.Operation) error {
	var doc restoreDoc
	if err := op.Document(&doc); err != nil {
		return err
	}
	p, err := l.openProject(doc.Project)
	if err != nil {
		return err
	}
	m, err := l.load(p, doc.Mission)
	if err != nil {
		return err
	}
	return l.holding(ctx, m, func(m *loaded) error { return l.recoverEntry(ctx, m, op.ID()) })
}

// finishCutOff recovers what was cut off in the mission's workspace and reports
// whether there was anything. Where people have gone on working, or it can't be
// done, it is only said: no command but those that restore depends on it. The
// caller holds the workspace.
func (l *Local) finishCutOff(ctx context.Context, m *loaded) (found bool, err error) {
	return l.eachCutOff(m, func(entry *journal.Operation, phase journal.Phase) error {
		if phase == journal.Interrupted {
			return nil
		}
		err := l.recoverEntry(ctx, m, entry.ID())
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		e := AsError(err)
		hint := e.Hint
		if e.Kind != KindConflict {
			l.log.Warn("recover a restore", "operation", entry.ID(), "error", err)
			hint = "umbra doctor --fix"
		}
		Notify(ctx, Notice{Text: fmt.Sprintf("a restore here was cut off: %s: %s", e.Message, hint)})
		return nil
	})
}

// refuseInterrupted recovers like finishCutOff, but refuses to go on over a
// restore that waits for the user's decision. The caller holds the workspace.
func (l *Local) refuseInterrupted(ctx context.Context, m *loaded) error {
	_, err := l.eachCutOff(m, func(entry *journal.Operation, _ journal.Phase) error {
		return l.recoverEntry(ctx, m, entry.ID())
	})
	return err
}

// eachCutOff calls fn for the restores in the mission's workspace that have not
// ended, and reports whether there were any.
func (l *Local) eachCutOff(m *loaded, fn func(*journal.Operation, journal.Phase) error) (found bool, err error) {
	entries, _, err := l.journal.List()
	if err != nil {
		return false, fmt.Errorf("read the journal: %w", err)
	}
	for _, entry := range entries {
		phase, _ := entry.Phase()
		if entry.Kind() != restoreKind || phase == journal.Done {
			continue
		}
		var doc restoreDoc
		if err := entry.Document(&doc); err != nil {
			l.log.Warn("read a restore that was cut off", "operation", entry.ID(), "error", err) // doctor says it too
			continue
		}
		if doc.Place != m.bind.Place || doc.Project != m.project.Dir {
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
func (l *Local) recoverEntry(ctx context.Context, m *loaded, id string) error {
	entry, err := l.journal.Load(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // ended meanwhile
	}
	if err != nil {
		return err
	}
	work, err := l.workOf(m, entry)
	if work == nil || err != nil {
		return err
	}
	defer work.close()
	if m.ID != work.doc.Mission {
		if m, err = l.load(m.project, work.doc.Mission); err != nil {
			return err
		}
	}
	if work.Document == nil {
		return l.recoverTalk(ctx, m, work)
	}
	how, outcome, err := work.Recover(ctx, func(ctx context.Context) (bool, error) { return l.undisturbed(ctx, m, work) })
	if err != nil {
		return err
	}
	j := &job{kind: work.doc.Operation.Kind}
	switch how {
	case restore.Forward:
		return l.completeOnce(ctx, m, work, outcome, j)
	case restore.Back:
		return l.endRestore(ctx, m, work)
	case restore.Over:
		return l.settle(ctx, m, work)
	}
	return l.interrupted(ctx, m, work)
}

// recoverTalk finishes a restore of the conversation alone.
func (l *Local) recoverTalk(ctx context.Context, m *loaded, work *restoreWork) error {
	if phase, _ := work.Entry.Phase(); phase == journal.Done {
		return nil
	}
	return l.completeOnce(ctx, m, work, &restore.Outcome{}, &job{kind: work.doc.Operation.Kind})
}

// completeOnce completes a recovered restore, unless its snapshot was published
// before its process died.
func (l *Local) completeOnce(ctx context.Context, m *loaded, work *restoreWork, outcome *restore.Outcome, j *job) error {
	published, err := m.published(work.doc.Operation.ID)
	if published {
		l.supersede(m)
	}
	if published || err != nil {
		return errors.Join(err, l.endRestore(ctx, m, work))
	}
	return l.completeRestore(ctx, m, work, outcome, j)
}

// published looks for the snapshot of an operation in the mission's history.
func (m *loaded) published(operation string) (bool, error) {
	for s, err := range m.project.store.Snapshots(m.tip.ID, gitstore.HistoryOptions{}) {
		if err != nil {
			return false, err
		}
		if op, ok, err := m.operationOf(s); err != nil || ok && op.ID == operation {
			return ok, err
		}
	}
	return false, nil
}

// undisturbed reports whether all paths that the restore did not plan to change
// are as its safety snapshot holds them.
func (l *Local) undisturbed(ctx context.Context, m *loaded, work *restoreWork) (bool, error) {
	present, err := l.presentSide(ctx, m)
	if err != nil {
		return false, err
	}
	strangers, err := work.Document.Strangers(m.project.store, work.Root, present.Tree)
	return len(strangers) == 0, err
}

// interrupted keeps what is there now in a snapshot, and leaves the rest to the
// user.
func (l *Local) interrupted(ctx context.Context, m *loaded, work *restoreWork) error {
	_, err := l.commit(ctx, m, &wanted{
		Take:     Take{Trigger: TriggerManual, Of: m.life, What: "found after a " + work.doc.Operation.Kind + " was cut off", OnlyIfChanged: true},
		triggers: Triggers{TriggerManual},
	})
	if err != nil {
		return err
	}
	why := Errorf(KindConflict, fmt.Sprintf("umbra undo %s takes it back, umbra redo %s finishes it; paths changed since stay as they are", m.Name, m.Name),
		"a %s of %s was cut off, and people have gone on working in it since", work.doc.Operation.Kind, m.Name)
	if waits := m.live.Pending; waits != nil { // an undo or redo would decide what is the user's to decide
		m.live.Pending = nil
		l.notDone(ctx, m, *waits, why)
	}
	l.saveLive(m)
	return why
}

// endInterrupted ends an interrupted restore as the user chose: undo takes it
// back, redo finishes it. It reports whether there was one.
func (l *Local) endInterrupted(ctx context.Context, m *loaded, kind string) (RestoreResult, bool, error) {
	entries, _, err := l.journal.List()
	if err != nil {
		return RestoreResult{}, false, fmt.Errorf("read the journal: %w", err)
	}
	for _, entry := range entries {
		if phase, _ := entry.Phase(); phase != journal.Interrupted {
			continue
		}
		work, err := l.workOf(m, entry)
		if err != nil {
			return RestoreResult{}, false, err
		}
		if work == nil {
			continue
		}
		defer work.close()
		result, err := l.endWork(ctx, m, work, kind)
		return result, true, err
	}
	return RestoreResult{}, false, nil
}

func (l *Local) endWork(ctx context.Context, m *loaded, work *restoreWork, kind string) (RestoreResult, error) {
	j := &job{kind: work.doc.Operation.Kind}
	j.result = RestoreResult{Target: work.doc.Operation.Target, Mission: m.ID, Name: m.Name, Workspace: m.bind.Workspace}.filled()
	if id, err := gitstore.ParseID(j.result.Target); err == nil {
		j.result.Address = m.addressOf(id)
	}
	if kind == "redo" {
		outcome, err := work.FinishForward(ctx)
		if err != nil {
			return j.result, l.restoreFailed(ctx, m, j, work, err)
		}
		j.addOutcome(outcome)
		j.result.Modify, j.result.Create, j.result.Delete = work.doneOf(outcome)
		err = l.completeRestore(ctx, m, work, outcome, j)
		return j.result, err
	}
	outcome, err := work.TakeBack()
	if err != nil {
		return j.result, err
	}
	j.addOutcome(outcome)
	j.result.Modify, j.result.Delete, j.result.Create = work.doneOf(outcome)
	t, err := l.commit(ctx, m, &wanted{
		Take:     Take{Trigger: TriggerUndo, Of: m.life, What: "took back a " + work.doc.Operation.Kind + " that was cut off"},
		triggers: Triggers{TriggerUndo}, displaced: displacedFiles(outcome.Displaced),
	})
	if err != nil {
		return j.result, err
	}
	l.saveLive(m)
	j.result.Done, j.result.Snapshot = true, t.snapshot.ID.String()
	return j.result, l.endRestore(ctx, m, work)
}

// doneOf sorts what became of the plan's paths by what the plan meant to do.
func (w *restoreWork) doneOf(o *restore.Outcome) (modify, create, remove []string) {
	did := func(actions ...restore.Action) []string {
		return slices.DeleteFunc(w.Document.Plan.Paths(actions...), func(path string) bool {
			_, done := slices.BinarySearch(o.Done, path)
			return !done
		})
	}
	return did(restore.Replace, restore.Chmod), did(restore.Create), did(restore.Delete)
}
