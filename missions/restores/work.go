package restores

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// applyRestore puts the files of a planned restore in place. The first rename may show
// that the journal is on another file system (a project's quota, some network file
// systems). Then everything has been taken back, and the restore is done again with its
// files staged in the workspace. The caller closes the work; with an error there is
// none.
func (rs *Restorer) applyRestore(ctx context.Context, m *projects.Mission, doc JournalDoc, j *Job) (*RestoreWork, *restore.Outcome, error) {
	work, err := beginStanding(ctx, rs, m, doc, j, restore.PrepareOptions{})
	if err != nil {
		return nil, nil, err
	}
	outcome, err := work.apply(ctx)
	if isCleanCrossDeviceFailure(err) && len(work.Document.Beside) < len(work.Document.Plan.Changes) {
		rs.Logger.Info("a restore is staged in the workspace", "workspace", m.Binding.Workspace, "reason", err)
		finished := endTakenBack(ctx, rs, m, work)
		work.Close()
		if finished != nil {
			return nil, nil, fmt.Errorf("restore: %w; the workspace is as it was", errors.Join(err, finished))
		}
		doc.Operation.ID = rs.NewID()
		if work, err = beginStanding(ctx, rs, m, doc, j, restore.PrepareOptions{Beside: true}); err != nil {
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

// beginStanding is BeginRestore for a target that was found before the journal named it, which
// pruning heeds. It refuses a target that was pruned in between.
func beginStanding(ctx context.Context, rs *Restorer, m *projects.Mission, doc JournalDoc, j *Job, options restore.PrepareOptions) (*RestoreWork, error) {
	work, err := rs.BeginRestore(m, doc, j, options)
	if err != nil {
		return nil, err
	}
	if j.target.ID != m.Tip.ID { // the newest snapshot always stays
		err = rs.CheckNotPruned(ctx, m, j.target)
	}
	if err == nil {
		err = placeToolCopy(ctx, rs, m, doc.Conversation)
	}
	if err != nil {
		err = errors.Join(err, endTakenBack(ctx, rs, m, work))
		work.Close()
		return nil, err
	}
	return work, nil
}

// apply restores the files, if the restore has files.
func (w *RestoreWork) apply(ctx context.Context) (*restore.Outcome, error) {
	if w.Document == nil {
		return &restore.Outcome{}, nil
	}
	return w.Apply(ctx)
}

// isCleanCrossDeviceFailure reports whether a restore failed at a rename between file
// systems and left nothing behind: no change, and no bytes of another writer.
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

// RestoreWork is a restore in flight in this process.
type RestoreWork struct {
	*restore.Work
	Doc JournalDoc
}

func (w *RestoreWork) Close() { _ = w.Root.Close() }

// BeginRestore opens the journal's entry. From then on, if this process is killed,
// another one finishes the restore or takes it back.
func (rs *Restorer) BeginRestore(m *projects.Mission, doc JournalDoc, j *Job, options restore.PrepareOptions) (*RestoreWork, error) {
	root, err := OpenWorkspace(m)
	if err != nil {
		return nil, err
	}
	if doc.Operation.Plan != nil {
		doc.Files, err = restore.Prepare(root, rs.Journal.Dir(), doc.Operation.ID, j.Files.Plan, options)
		if err != nil {
			return nil, errors.Join(planError(j.target, err), root.Close())
		}
	}
	entry, err := rs.Journal.Begin(doc.Operation.ID, JournalKind, doc)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("journal the restore: %w", err), root.Close())
	}
	return &RestoreWork{Work: &restore.Work{Root: root, Objects: m.Project.Store, Entry: entry, Document: doc.Files, Step: rs.RestoreStep}, Doc: doc}, nil
}

// endFailedRestore ends the entry of a restore that was taken back. If it could not be
// taken back, the entry stays and is recovered later.
func (rs *Restorer) endFailedRestore(ctx context.Context, m *projects.Mission, j *Job, work *RestoreWork, err error) error {
	var failure *restore.Failure
	if errors.As(err, &failure) {
		if failure.Outcome != nil {
			j.addOutcome(failure.Outcome)
		}
		if failure.Back != nil {
			return missions.Errorf(missions.KindFailed, "umbra doctor --fix tries to finish it", "restore: %w", err)
		}
		kind, hint := rs.classifyFailure(err)
		return missions.Errorf(kind, hint, "restore: %w", errors.Join(err, endTakenBack(ctx, rs, m, work)))
	}
	kind, hint := rs.classifyFailure(err)
	return missions.Errorf(kind, hint, "restore: %w; the workspace is as it was", errors.Join(err, endTakenBack(ctx, rs, m, work)))
}

// classifyFailure is what kind of failure a restore's is, and what helps.
func (rs *Restorer) classifyFailure(err error) (missions.Kind, string) {
	switch {
	case missions.AsError(err).Kind == missions.KindDamaged:
		return missions.KindDamaged, "umbra doctor says what is damaged; umbra restore MOMENT --path PATH takes what is intact"
	case home.IsDiskFull(err):
		return missions.KindFailed, rs.snapshots.FreeSpaceHint() + ", or of the workspace, and try again"
	}
	return missions.KindFailed, ""
}

// addOutcome adds what became of the plan to what the user is told.
func (j *Job) addOutcome(o *restore.Outcome) {
	left := leftPaths(o)
	j.Result.Kept, j.Result.Partial = append(j.Result.Kept, left...), j.Result.Partial || len(left) > 0
	for _, d := range o.Displaced {
		j.Result.Displaced = append(j.Result.Displaced, missions.PathReason{Path: d.Path, Reason: "written while it was restored; kept in the record under displaced/"})
	}
	j.Result.Notes = append(j.Result.Notes, foldNotes(o.Notes)...)
}

// leftPaths are the paths that the plan had, and that were left as they are once something
// was found in the way.
func leftPaths(o *restore.Outcome) (list []missions.PathReason) {
	for _, left := range o.Left {
		list = append(list, missions.PathReason{Path: left.Path, Reason: string(left.Reason)})
	}
	return list
}

// foldNotes says of each attribute that could not be kept, and of each reason, in one line
// which files it was of.
func foldNotes(list []restore.Note) (out []string) {
	paths := map[string][]string{}
	var order []string
	for _, note := range list {
		what := fmt.Sprintf("%s could not be kept (%v)", note.What, note.Err)
		if paths[what] == nil {
			order = append(order, what)
		}
		paths[what] = append(paths[what], note.Path)
	}
	for _, what := range order {
		out = append(out, what+": "+missions.NameSome(paths[what]))
	}
	return out
}

// withhold keeps out of the snapshots to come what a restore left as it is and no rule
// leaves out any more.
func withhold(m *projects.Mission, doc JournalDoc) {
	if doc.Files != nil {
		m.Withheld = append(slices.Clone(m.Withheld), doc.Files.Plan.Revealed()...)
	}
}

// putBack are the files that it has put in place, which snapshots hold from then on, whatever
// rule would leave them out.
func (w *RestoreWork) putBack() []string {
	if w.Doc.Files == nil {
		return nil
	}
	return w.Doc.Files.Plan.Paths(restore.Create, restore.Replace)
}

// completeRestore does what comes after the files: the conversation, the
// snapshot that says what was done, and the end of the journal's entry.
func (rs *Restorer) completeRestore(ctx context.Context, m *projects.Mission, work *RestoreWork, outcome *restore.Outcome, j *Job) error {
	if err := rs.CompleteConversation(ctx, m, work.Doc); err != nil {
		return err
	}
	failpoint.Hit("restore.talked")
	withhold(m, work.Doc)
	op := work.Doc.Operation
	op.Kept = slices.Concat(op.Kept, leftPaths(outcome))
	trigger := missions.Trigger(op.Kind)
	snapshots.SetNote(m, snapshots.NoteNotDone, "")
	rs.updates.TellRestored(m, op, work.Doc.Subject) // a restore that is killed once its snapshot is published is not completed again
	rs.updates.FollowMerge(m, op)
	endLending(m, op)
	t, err := rs.snapshots.TakeSnapshot(ctx, m, &snapshots.WantedSnapshot{
		TakeSnapshot: missions.TakeSnapshot{Trigger: trigger, Lifecycle: m.Lifecycle, Message: work.Doc.Subject},
		Triggers:     missions.Triggers{trigger}, Operation: &op, Displaced: displacedFiles(outcome.Displaced),
		PutBack: work.putBack(),
	})
	if err != nil {
		return fmt.Errorf("the workspace is restored, but no snapshot says so yet: %w", err)
	}
	failpoint.Hit("restore.committed")
	rs.clearPending(m)
	j.Result.Conversation.Switched = work.Doc.Conversation != nil
	if err := rs.endRestore(ctx, m, work); err != nil {
		return fmt.Errorf("end the restore: %w", err)
	}
	j.Result.Done, j.Result.Snapshot, j.Result.SessionID = true, t.Snapshot.ID.String(), m.Stored.Session
	j.Result.Handover = rs.HandoverAdvice(m, j)
	return nil
}
