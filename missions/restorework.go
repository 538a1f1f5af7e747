package missions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/restore"
)

// restoreKind is a restore's, undo's or redo's kind in the journal.
const restoreKind = "restore"

// restoreDoc is a restore in flight, in the journal: everything that is needed
// to finish it in another process, durable before the first change.
type restoreDoc struct {
	Project   string            `json:"project"` // the directory in Umbra's home
	Mission   string            `json:"mission"`
	Place     Place             `json:"workspace"`
	Expected  string            `json:"expected"` // the mission's newest snapshot when it began
	Operation operation         `json:"operation"`
	Files     *restore.Document `json:"files,omitempty"`
	Talk      *talkDoc          `json:"conversation,omitempty"`
	Describes string            `json:"describes"`
	Note      string            `json:"note,omitempty"`
	Owner     lock.Owner        `json:"owner"` // the process that carries it out
}

// talkDoc is the conversation's side: the session that the mission goes on in,
// and what it is made of unless it exists already.
type talkDoc struct {
	Session string          `json:"session"`
	Path    string          `json:"path"`
	Record  gitstore.ID     `json:"record,omitzero"`
	Length  int64           `json:"length,omitempty"`
	Recipe  json.RawMessage `json:"recipe,omitempty"`
}

// runRestore carries a planned restore out and records it.
func (l *Local) runRestore(ctx context.Context, m *loaded, j *job, c Caller) (RestoreResult, error) {
	if (j.files == nil || j.files.empty()) && j.talk == nil {
		j.result.Done = true
		j.result.Notes = append(j.result.Notes, "nothing differs")
		l.supersede(m)
		return j.result, nil
	}
	doc, err := l.describeRestore(m, j)
	if err != nil {
		return j.result, err
	}
	work, outcome, err := l.applyRestore(ctx, m, doc, j)
	if err != nil {
		return j.result, err
	}
	defer work.close()
	j.addOutcome(outcome)
	if err := l.completeRestore(ctx, m, work, outcome, j); err != nil {
		return j.result, err
	}
	if err := l.importTalk(ctx, m, c); err != nil {
		j.result.Notes = append(j.result.Notes, notImported(m, err))
	}
	return j.result, nil
}

// supersede drops what waits for the end of the turn, and why such a thing was not
// done before: what was asked for later was done, and the end of the turn is not to
// take that back. Where an agent worked that has ended is past too. The caller holds
// the workspace.
func (l *Local) supersede(m *loaded) {
	m.live.Pending, m.live.NotRestored = nil, ""
	if !HasAgent(m.life) {
		m.live.Away = ""
	}
	l.saveLive(m)
}

// describeRestore writes down what is to be done.
func (l *Local) describeRestore(m *loaded, j *job) (restoreDoc, error) {
	op := operation{ID: l.newID(), Kind: j.kind, Target: j.target.ID.String(), TakesBack: j.takesID, Keep: j.result.Keep}
	if m.live.Handover.open() {
		op.Handover = m.live.Handover.ID
	}
	if j.safety != nil {
		op.Safety = j.safety.ID.String()
	} else {
		op.Safety = m.tip.ID.String()
	}
	doc := restoreDoc{
		Project: m.project.Dir, Mission: m.ID, Place: m.bind.Place, Expected: m.tip.ID.String(),
		Describes: j.kind + " " + j.describe(m), Note: noteOfRestore(j), Owner: l.self,
	}
	var err error
	if j.files != nil && !j.files.empty() {
		if op.Plan, err = j.files.doc(); err != nil {
			return doc, err
		}
	}
	if j.talk != nil {
		op.Before, op.BeforePath = m.stored.Session, m.bind.Session
		if doc.Talk, err = l.describeTalk(m, j.target, j.talk); err != nil {
			return doc, err
		}
		op.After, op.AfterPath = doc.Talk.Session, doc.Talk.Path
	}
	doc.Operation = op
	return doc, nil
}

// describeTalk decides which session the mission will go on in.
func (l *Local) describeTalk(m *loaded, target *gitstore.Snapshot, plan *talkPlan) (*talkDoc, error) {
	if plan.session != "" {
		return &talkDoc{Session: plan.session, Path: plan.path}, nil
	}
	a := l.adapter(m.Agent)
	id := l.newSession(a)
	talk := &talkDoc{Session: id, Path: a.Path(m.adapterEnv(), resolvedOr(m.cwd()), id)}
	if plan.empty {
		return talk, nil
	}
	oldRoot, oldCwd, err := l.spokenIn(m.project, target)
	if err != nil {
		return nil, err
	}
	recipe, err := json.Marshal(recipe{
		Agent: plan.source.Agent, OldID: plan.source.SessionID, NewID: id, OldCwd: oldCwd, NewCwd: m.cwd(),
		OldRoot: oldRoot, NewRoot: m.bind.Workspace, Now: l.now(),
		Version: a.RewriteVersion(),
	})
	talk.Record, talk.Length, talk.Recipe = plan.record, plan.cut.Length, recipe
	return talk, err
}

// restoreWork is a restore in flight in this process.
type restoreWork struct {
	*restore.Work
	doc restoreDoc
}

func (w *restoreWork) close() { _ = w.Root.Close() }

// beginRestore opens the journal's entry: from here on a killed process's
// restore is finished or taken back by another.
func (l *Local) beginRestore(m *loaded, doc restoreDoc, j *job, options restore.PrepareOptions) (*restoreWork, error) {
	root, err := m.openWorkspace()
	if err != nil {
		return nil, err
	}
	if doc.Operation.Plan != nil {
		doc.Files, err = restore.Prepare(root, l.journal.Dir(), doc.Operation.ID, j.files.Plan, options)
		if err != nil {
			return nil, errors.Join(planFailed(j.target, err), root.Close())
		}
	}
	entry, err := l.journal.Begin(doc.Operation.ID, restoreKind, doc)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("journal the restore: %w", err), root.Close())
	}
	return &restoreWork{Work: &restore.Work{Root: root, Objects: m.project.store, Entry: entry, Document: doc.Files, Step: l.restoreStep}, doc: doc}, nil
}

// restoreFailed ends the entry of a restore that was taken back, or leaves it
// to be recovered where that was not possible.
func (l *Local) restoreFailed(ctx context.Context, m *loaded, j *job, work *restoreWork, err error) error {
	var failure *restore.Failure
	if errors.As(err, &failure) {
		if failure.Outcome != nil {
			j.addOutcome(failure.Outcome)
		}
		if failure.Back != nil {
			return Errorf(KindFailed, "umbra doctor --fix tries to finish it", "restore: %w", err)
		}
		kind, hint := l.afterFailure(err)
		return Errorf(kind, hint, "restore: %w", errors.Join(err, l.endRestore(ctx, m, work)))
	}
	kind, hint := l.afterFailure(err)
	return Errorf(kind, hint, "restore: %w; the workspace is as it was", errors.Join(err, l.endRestore(ctx, m, work)))
}

// afterFailure is what kind of failure a restore's is, and what helps.
func (l *Local) afterFailure(err error) (Kind, string) {
	switch {
	case AsError(err).Kind == KindDamaged:
		return KindDamaged, "umbra doctor says what is damaged; umbra restore MOMENT --path PATH takes what is intact"
	case isDiskFull(err):
		return KindFailed, l.freeSpace() + ", or of the workspace, and try again"
	}
	return KindFailed, ""
}

// addOutcome adds what became of the plan to what the user is told.
func (j *job) addOutcome(o *restore.Outcome) {
	for _, left := range o.Left {
		j.result.Keep = append(j.result.Keep, Kept{Path: left.Path, Reason: string(left.Reason)})
		j.result.Partial = true
	}
	for _, d := range o.Displaced {
		j.result.Displaced = append(j.result.Displaced, Kept{Path: d.Path, Reason: "written while it was restored; kept in the record under displaced/"})
	}
	for _, note := range o.Notes {
		j.result.Notes = append(j.result.Notes, fmt.Sprintf("%s: %s could not be carried over: %v", note.Path, note.What, note.Err))
	}
}

// completeRestore does what comes after the files: the conversation, the
// snapshot that says what was done, and the end of the journal's entry.
func (l *Local) completeRestore(ctx context.Context, m *loaded, work *restoreWork, outcome *restore.Outcome, j *job) error {
	if err := l.completeTalk(m, work.doc); err != nil {
		return err
	}
	failpoint.Hit("restore.talked")
	op := work.doc.Operation
	trigger := Trigger(op.Kind)
	m.tell(noteUndone, "")
	t, err := l.commit(ctx, m, &wanted{
		Take:     Take{Trigger: trigger, Of: m.life, What: work.doc.Describes},
		triggers: Triggers{trigger}, operation: &op, displaced: displacedFiles(outcome.Displaced),
	})
	if err != nil {
		return fmt.Errorf("the workspace is restored, but no snapshot says so yet: %w", err)
	}
	failpoint.Hit("restore.committed")
	l.supersede(m)
	j.result.Conversation.Switched = work.doc.Talk != nil
	if err := l.endRestore(ctx, m, work); err != nil {
		return fmt.Errorf("end the restore: %w", err)
	}
	j.result.Done, j.result.Snapshot, j.result.SessionID = true, t.snapshot.ID.String(), m.stored.Session
	j.result.Handover = l.handover(m, j)
	return nil
}

// completeTalk gives the mission its conversation, placing the copy if it is
// not there yet. The former session's file stays where it is.
func (l *Local) completeTalk(m *loaded, doc restoreDoc) error {
	if doc.Note != "" {
		m.tell(noteRestore, doc.Note)
	}
	talk := doc.Talk
	if talk == nil || m.stored.Session == talk.Session {
		return nil
	}
	if talk.Recipe != nil {
		var r recipe
		if err := json.Unmarshal(talk.Recipe, &r); err != nil {
			return Errorf(KindDamaged, "umbra doctor", "restore %s: recipe: %w", doc.Operation.ID, err)
		}
		done, err := l.placeAgain(m, talk, r)
		if err != nil {
			return err
		}
		m.inherited = done.inherited
	}
	m.follow(talk.Session, talk.Path)
	m.takeBackLeft(doc.Operation.Target)
	l.sayAgain(m, doc)
	l.tellFork(m)
	return nil
}

func displacedFiles(list []restore.Displaced) []displaced {
	var out []displaced
	for _, d := range list {
		out = append(out, displaced{path: d.Path, mode: d.Mode, open: func() (io.ReadCloser, int64, error) { return d.Open() }})
	}
	return out
}

// settleAll drops from quarantine what is stored elsewhere, for the restores
// that are over in this workspace, and keeps what was written there since in a
// snapshot's record first (I8). The caller holds the workspace.
func (l *Local) settleAll(ctx context.Context, m *loaded) error {
	entries, _, err := l.journal.List()
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		phase, _ := entry.Phase()
		work, err := l.workOf(m, entry)
		if err != nil || work == nil {
			errs = append(errs, err)
			continue
		}
		if phase == journal.Done && work.Document != nil {
			errs = append(errs, l.settle(ctx, m, work))
		}
		work.close()
	}
	return errors.Join(errs...)
}

func (l *Local) settle(ctx context.Context, m *loaded, work *restoreWork) error {
	return l.settleBy(ctx, m, work, work.Settle)
}

// endRestore ends a restore's entry. What was set aside in the workspace itself
// goes at once, as far as nobody writes to it (I5); the rest, and where that fails,
// waits for the next idle point.
func (l *Local) endRestore(ctx context.Context, m *loaded, work *restoreWork) error {
	if err := work.Finish(); err != nil {
		return err
	}
	if !work.Entry.Dropped() && work.Document != nil && len(work.Document.Beside) > 0 {
		if err := l.settleBy(ctx, m, work, work.Tidy); err != nil {
			l.log.Warn("tidy the workspace", "mission", m.ID, "error", err)
		}
	}
	return nil
}

// settling is Settle or Tidy.
type settling func(recorded func(restore.Displaced) (bool, error)) (*restore.Settled, error)

func (l *Local) settleBy(ctx context.Context, m *loaded, work *restoreWork, how settling) error {
	settled, err := settleRecorded(m, work, how)
	if err == nil && len(settled.Displaced) > 0 {
		_, err = l.commit(ctx, m, &wanted{
			Take:     Take{Trigger: TriggerWatch, Of: m.life, What: "bytes written to files that a restore had taken away"},
			triggers: Triggers{TriggerWatch}, displaced: displacedFiles(settled.Displaced),
		})
		if err == nil {
			settled, err = settleRecorded(m, work, how)
		}
	}
	if err != nil {
		return fmt.Errorf("quarantine of restore %s: %w", work.doc.Operation.ID, err)
	}
	if settled.Empty {
		failpoint.Hit("restore.settled")
		return work.Entry.Drop()
	}
	return nil
}

// settleRecorded drops what is in a record of the mission's since the restore.
func settleRecorded(m *loaded, work *restoreWork, how settling) (*restore.Settled, error) {
	var known map[gitstore.ID]bool
	return how(func(d restore.Displaced) (_ bool, err error) {
		if known == nil {
			known, err = m.recordedSince(work.doc.Expected)
		}
		return known[d.Blob], err
	})
}

// workOf opens a journal entry of a restore in the mission's workspace; nil for
// any other.
func (l *Local) workOf(m *loaded, entry *journal.Operation) (*restoreWork, error) {
	if entry.Kind() != restoreKind {
		return nil, nil
	}
	work := &restoreWork{Work: &restore.Work{Objects: m.project.store, Entry: entry}}
	if err := entry.Document(&work.doc); err != nil {
		return nil, err
	}
	if work.doc.Place != m.bind.Place || work.doc.Project != m.project.Dir {
		return nil, nil
	}
	root, err := m.openWorkspace()
	if err != nil {
		return nil, err
	}
	work.Root, work.Document = root, work.doc.Files
	return work, nil
}
