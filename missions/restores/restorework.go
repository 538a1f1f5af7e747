package restores

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
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// JournalKind is a restore's, undo's or redo's kind in the journal.
const JournalKind = "restore"

// JournalDoc is a restore in flight, in the journal: everything that is needed
// to finish it in another process, durable before the first change.
type JournalDoc struct {
	Project           string             `json:"project"` // the directory in Umbra's home
	Mission           string             `json:"mission"`
	WorkspaceIdentity home.FileIdentity  `json:"workspace"`
	TipBefore         string             `json:"expected"` // the mission's newest snapshot when it began
	Operation         projects.Operation `json:"operation"`
	Files             *restore.Document  `json:"files,omitempty"`
	Conversation      *conversationDoc   `json:"conversation,omitempty"`
	Subject           string             `json:"describes"`
	Note              string             `json:"note,omitempty"`
	Owner             lock.Owner         `json:"owner"` // the process that carries it out
}

// conversationDoc is the conversation's side: the session that the mission goes on in,
// and what it is made of unless it exists already.
type conversationDoc struct {
	Session string          `json:"session"`
	Path    string          `json:"path"`
	Record  gitstore.ID     `json:"record,omitzero"`
	Length  int64           `json:"length,omitempty"`
	Recipe  json.RawMessage `json:"recipe,omitempty"`
}

// RunRestore carries a planned restore out and records it.
func (rs *Restorer) RunRestore(ctx context.Context, m *projects.Mission, j *Job, c missions.Caller) (missions.RestoreResult, error) {
	if (j.Files == nil || j.Files.isEmpty()) && j.Conversation == nil {
		j.Result.Done = true
		j.Result.Notes = append(j.Result.Notes, "nothing differs")
		rs.clearPending(m)
		return j.Result, nil
	}
	doc, err := rs.NewJournalDoc(m, j)
	if err != nil {
		return j.Result, err
	}
	work, outcome, err := rs.applyRestore(ctx, m, doc, j)
	if err != nil {
		return j.Result, err
	}
	defer work.Close()
	j.addOutcome(outcome)
	if err := rs.completeRestore(ctx, m, work, outcome, j); err != nil {
		return j.Result, err
	}
	if err := rs.conversations.ImportConversation(ctx, m, c); err != nil {
		j.Result.Notes = append(j.Result.Notes, conversations.NotImportedNote(m, err))
	}
	return j.Result, nil
}

// clearPending drops what waits for the end of the turn, and why such a thing was not
// done before: what was asked for later was done, and the end of the turn is not to
// take that back. Where an agent worked that has ended is past too. The caller holds
// the workspace.
func (rs *Restorer) clearPending(m *projects.Mission) {
	m.Live.QueuedRestore, m.Live.NotRestoredReason = nil, ""
	if !missions.HasAgent(m.Lifecycle) {
		m.Live.OutsideDir = ""
	}
	rs.SaveLiveState(m)
}

// NewJournalDoc writes down what is to be done.
func (rs *Restorer) NewJournalDoc(m *projects.Mission, j *Job) (JournalDoc, error) {
	op := projects.Operation{ID: rs.NewID(), Kind: j.Kind, Target: j.target.ID.String(), ReversedOperation: j.takesBackID, Kept: j.Result.Kept}
	if m.Live.Handover.IsOpen() {
		op.HandoverID = m.Live.Handover.ID
	}
	if j.safetySnapshot != nil {
		op.SafetySnapshot = j.safetySnapshot.ID.String()
	} else {
		op.SafetySnapshot = m.Tip.ID.String()
	}
	doc := JournalDoc{
		Project: m.Project.Dir, Mission: m.ID, WorkspaceIdentity: m.Binding.Identity, TipBefore: m.Tip.ID.String(),
		Subject: j.Kind + " " + j.targetText(m), Note: restoreNote(j), Owner: rs.Self,
	}
	var err error
	if j.Files != nil && !j.Files.isEmpty() {
		if op.Plan, err = j.Files.document(); err != nil {
			return doc, err
		}
	}
	if j.Conversation != nil {
		op.SessionBefore, op.SessionBeforePath = m.Stored.Session, m.Binding.SessionPath
		if doc.Conversation, err = rs.newConversationDoc(m, j.target, j.Conversation); err != nil {
			return doc, err
		}
		op.SessionAfter, op.SessionAfterPath = doc.Conversation.Session, doc.Conversation.Path
	}
	doc.Operation = op
	return doc, nil
}

// newConversationDoc decides which session the mission will go on in.
func (rs *Restorer) newConversationDoc(m *projects.Mission, target *gitstore.Snapshot, plan *conversations.ConversationPlan) (*conversationDoc, error) {
	if plan.ReturnSession != "" {
		return &conversationDoc{Session: plan.ReturnSession, Path: plan.ReturnPath}, nil
	}
	a := rs.Adapter(m.Agent)
	id := rs.NewSession(a)
	talk := &conversationDoc{Session: id, Path: a.Path(m.AdapterEnv(), projects.ResolveLinks(m.Cwd()), id)}
	if plan.IsEmpty {
		return talk, nil
	}
	oldRoot, oldCwd, err := rs.conversations.ConversationDirs(m.Project, target)
	if err != nil {
		return nil, err
	}
	recipe, err := json.Marshal(conversations.CopyRecipe{
		Agent: plan.SourceMeta.Agent, OldID: plan.SourceMeta.SessionID, NewID: id, OldCwd: oldCwd, NewCwd: m.Cwd(),
		OldRoot: oldRoot, NewRoot: m.Binding.Workspace, Now: rs.Now(),
		Version: a.RewriteVersion(),
	})
	talk.Record, talk.Length, talk.Recipe = plan.Record, plan.Cut.Length, recipe
	return talk, err
}

// RestoreWork is a restore in flight in this process.
type RestoreWork struct {
	*restore.Work
	Doc JournalDoc
}

func (w *RestoreWork) Close() { _ = w.Root.Close() }

// BeginRestore opens the journal's entry: from here on a killed process's
// restore is finished or taken back by another.
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

// endFailedRestore ends the entry of a restore that was taken back, or leaves it
// to be recovered where that was not possible.
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
		return missions.Errorf(kind, hint, "restore: %w", errors.Join(err, rs.endRestore(ctx, m, work)))
	}
	kind, hint := rs.classifyFailure(err)
	return missions.Errorf(kind, hint, "restore: %w; the workspace is as it was", errors.Join(err, rs.endRestore(ctx, m, work)))
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
	for _, left := range o.Left {
		j.Result.Kept = append(j.Result.Kept, missions.PathReason{Path: left.Path, Reason: string(left.Reason)})
		j.Result.Partial = true
	}
	for _, d := range o.Displaced {
		j.Result.Displaced = append(j.Result.Displaced, missions.PathReason{Path: d.Path, Reason: "written while it was restored; kept in the record under displaced/"})
	}
	for _, note := range o.Notes {
		j.Result.Notes = append(j.Result.Notes, fmt.Sprintf("%s: %s could not be carried over: %v", note.Path, note.What, note.Err))
	}
}

// completeRestore does what comes after the files: the conversation, the
// snapshot that says what was done, and the end of the journal's entry.
func (rs *Restorer) completeRestore(ctx context.Context, m *projects.Mission, work *RestoreWork, outcome *restore.Outcome, j *Job) error {
	if err := rs.CompleteConversation(m, work.Doc); err != nil {
		return err
	}
	failpoint.Hit("restore.talked")
	op := work.Doc.Operation
	trigger := missions.Trigger(op.Kind)
	snapshots.SetNote(m, snapshots.NoteNotDone, "")
	t, err := rs.snapshots.TakeSnapshot(ctx, m, &snapshots.WantedSnapshot{
		TakeSnapshot: missions.TakeSnapshot{Trigger: trigger, Lifecycle: m.Lifecycle, Message: work.Doc.Subject},
		Triggers:     missions.Triggers{trigger}, Operation: &op, Displaced: displacedFiles(outcome.Displaced),
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

// CompleteConversation gives the mission its conversation, placing the copy if it is
// not there yet. The former session's file stays where it is.
func (rs *Restorer) CompleteConversation(m *projects.Mission, doc JournalDoc) error {
	if doc.Note != "" {
		snapshots.SetNote(m, snapshots.NoteRestore, doc.Note)
	}
	talk := doc.Conversation
	if talk == nil || m.Stored.Session == talk.Session {
		return nil
	}
	if talk.Recipe != nil {
		var r conversations.CopyRecipe
		if err := json.Unmarshal(talk.Recipe, &r); err != nil {
			return missions.Errorf(missions.KindDamaged, "umbra doctor", "restore %s: recipe: %w", doc.Operation.ID, err)
		}
		done, err := rs.placeAnnouncedCopy(m, talk, r)
		if err != nil {
			return err
		}
		m.InheritedSession = done.Inherited
	}
	conversations.SwitchSession(m, talk.Session, talk.Path)
	conversations.ResetLeftTally(m, doc.Operation.Target)
	rs.refreshLastPrompt(m, doc)
	rs.snapshots.NoteForkAgain(m)
	return nil
}

func displacedFiles(list []restore.Displaced) []snapshots.DisplacedFile {
	var out []snapshots.DisplacedFile
	for _, d := range list {
		out = append(out, snapshots.DisplacedFile{Path: d.Path, Mode: d.Mode, Open: func() (io.ReadCloser, int64, error) { return d.Open() }})
	}
	return out
}

// SettleRestores drops from quarantine what is stored elsewhere, for the restores
// that are over in this workspace, and keeps what was written there since in a
// snapshot's record first (I8). The caller holds the workspace.
func (rs *Restorer) SettleRestores(ctx context.Context, m *projects.Mission) error {
	entries, _, err := rs.Journal.List()
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		phase, _ := entry.Phase()
		work, err := rs.openRestoreWork(m, entry)
		if err != nil || work == nil {
			errs = append(errs, err)
			continue
		}
		if phase == journal.Done && work.Document != nil {
			errs = append(errs, rs.settleRestore(ctx, m, work))
		}
		work.Close()
	}
	return errors.Join(errs...)
}

func (rs *Restorer) settleRestore(ctx context.Context, m *projects.Mission, work *RestoreWork) error {
	return rs.settleWith(ctx, m, work, work.Settle)
}

// endRestore ends a restore's entry. What was set aside in the workspace itself
// goes at once, as far as nobody writes to it (I5); the rest, and where that fails,
// waits for the next idle point.
func (rs *Restorer) endRestore(ctx context.Context, m *projects.Mission, work *RestoreWork) error {
	if err := work.Finish(); err != nil {
		return err
	}
	if !work.Entry.Dropped() && work.Document != nil && len(work.Document.Beside) > 0 {
		if err := rs.settleWith(ctx, m, work, work.Tidy); err != nil {
			rs.Logger.Warn("tidy the workspace", "mission", m.ID, "error", err)
		}
	}
	return nil
}

// settleFunc is Settle or Tidy.
type settleFunc func(recorded func(restore.Displaced) (bool, error)) (*restore.Settled, error)

func (rs *Restorer) settleWith(ctx context.Context, m *projects.Mission, work *RestoreWork, how settleFunc) error {
	settled, err := settleRecorded(m, work, how)
	if err == nil && len(settled.Displaced) > 0 {
		_, err = rs.snapshots.TakeSnapshot(ctx, m, &snapshots.WantedSnapshot{
			TakeSnapshot: missions.TakeSnapshot{Trigger: missions.TriggerWatch, Lifecycle: m.Lifecycle, Message: "bytes written to files that a restore had taken away"},
			Triggers:     missions.Triggers{missions.TriggerWatch}, Displaced: displacedFiles(settled.Displaced),
		})
		if err == nil {
			settled, err = settleRecorded(m, work, how)
		}
	}
	if err != nil {
		return fmt.Errorf("quarantine of restore %s: %w", work.Doc.Operation.ID, err)
	}
	if settled.Empty {
		failpoint.Hit("restore.settled")
		return work.Entry.Drop()
	}
	return nil
}

// settleRecorded drops what is in a record of the mission's since the restore.
func settleRecorded(m *projects.Mission, work *RestoreWork, how settleFunc) (*restore.Settled, error) {
	var known map[gitstore.ID]bool
	return how(func(d restore.Displaced) (_ bool, err error) {
		if known == nil {
			known, err = snapshots.DisplacedSince(m, work.Doc.TipBefore)
		}
		return known[d.Blob], err
	})
}

// openRestoreWork opens a journal entry of a restore in the mission's workspace; nil for
// any other.
func (rs *Restorer) openRestoreWork(m *projects.Mission, entry *journal.Operation) (*RestoreWork, error) {
	if entry.Kind() != JournalKind {
		return nil, nil
	}
	work := &RestoreWork{Work: &restore.Work{Objects: m.Project.Store, Entry: entry}}
	if err := entry.Document(&work.Doc); err != nil {
		return nil, err
	}
	if work.Doc.WorkspaceIdentity != m.Binding.Identity || work.Doc.Project != m.Project.Dir {
		return nil, nil
	}
	root, err := OpenWorkspace(m)
	if err != nil {
		return nil, err
	}
	work.Root, work.Document = root, work.Doc.Files
	return work, nil
}
