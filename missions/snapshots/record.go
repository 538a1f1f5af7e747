package snapshots

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// WriteSnapshot adds the record and the snapshot to the batch.
func (tk *Taker) WriteSnapshot(
	ctx context.Context, m *projects.Mission, w *WantedSnapshot, ws *WorkspaceCache, c *capture.Result, batch *shadow.Batch,
) (*gitstore.Snapshot, error) {
	now := tk.Now()
	author := ws.author()
	base := gitstore.ID{}
	if m.Record != base {
		before, err := m.Project.Store.Commit(m.Record)
		if err != nil {
			return nil, err
		}
		base = before.Tree
	}
	t := records.NewTree(m.Project.Store, base)
	git, err := putGitState(t, m.Project.Store, ws, batch)
	if err != nil {
		return nil, err
	}
	session, err := tk.PutSession(t, m, w.TakeSnapshot, ws, batch)
	if err != nil {
		return nil, err
	}
	if session.Meta.SessionID != "" {
		tk.conversations.CountConversation(m, session.Meta)
	}
	if conversations.RunsWithoutHooks(m) {
		w.Lifecycle, _ = missions.Transition(w.Lifecycle, missions.TurnsCounted{Turn: m.Lifecycle.LastTurn()})
	}
	info := newSnapshotInfo(w, c, session, now)
	info.Tally = conversations.MissionTally(&m.Stored)
	hasAgent := missions.HasAgent(w.Lifecycle) || w.Triggers.Has(missions.TriggerClose) && !w.Late
	info.WithoutHooks = conversations.RunsWithoutHooks(m) && hasAgent
	if m.Tip != nil && c.Tree != m.Tip.Tree {
		info.MadeBy = makersOf(m, w)
	}
	if err := putCaptureDocs(t, c); err != nil {
		return nil, err
	}
	m.Withheld = c.Withheld()
	m.TurnPosition = m.NextTurnPosition(w.Lifecycle.LastTurn(), w.Triggers)
	if err := tk.putSnapshotDocs(t, batch, m, w, info, now); err != nil {
		return nil, err
	}
	tree, err := t.Write(batch)
	if err != nil {
		return nil, err
	}
	record, err := m.Project.Store.WriteRecord(batch, &gitstore.Record{
		Tree: tree, Parents: ParentList(m.Record), Author: author.signature(now), At: now,
		Kind: gitstore.KindSnapshot, Mission: m.ID, Message: w.Message,
	})
	if err != nil {
		return nil, err
	}
	snap := &gitstore.Snapshot{
		Tree: c.Tree, Author: author.signature(now), At: now, State: string(missions.StateOf(w.Lifecycle)), Message: w.Message,
		Trailers: gitstore.Trailers{
			Mission: m.ID, Triggers: w.Triggers.Texts(), Turn: w.Lifecycle.LastTurn(), Prompt: promptOf(m, w), Record: record,
			Session: m.Stored.Session, GitHead: git.Head, GitBranch: BranchName(git.Branch), Skipped: len(c.Skipped),
			Late: w.Late, Partial: info.Partial,
		},
	}
	if m.Tip != nil {
		snap.Parents = []gitstore.ID{m.Tip.ID}
		if snap.At.Before(m.Tip.At) {
			snap.At = m.Tip.At // a clock set back would break `git log --since`
		}
	}
	if w.Operation != nil {
		addOrigin(snap, *w.Operation)
	}
	snap.Subject = subjectOf(m, w, snap, info)
	if m.Parent != nil && m.Tip != nil && m.Tip.Mission != m.ID {
		snap.ForkedFrom, _ = gitstore.ParseID(m.Parent.Snapshot)
	}
	snap.ID, err = batch.Commit(gitstore.FormatSnapshot(snap))
	return snap, err
}

// subjectOf is the first line of a snapshot's commit.
func subjectOf(m *projects.Mission, w *WantedSnapshot, snap *gitstore.Snapshot, info projects.SnapshotInfo) string {
	e := missions.Entry{
		State: missions.StateName(snap.State), Triggers: w.Triggers.Texts(), Message: w.Message, MadeBy: info.MadeBy,
		Operation: string(w.Triggers.Operation()),
	}
	if m.Tip != nil {
		e.Parent = m.Tip.ID.String()
		if m.Tip.Tree != snap.Tree {
			e.Files.Modified = 1 // at least
		}
	}
	return missions.LabelOf(e).Subject(snap.Turn, snap.Prompt)
}

// addOrigin adds to the snapshot of an operation where its state comes from. A promotion
// joins two histories: its second parent is the fork's newest snapshot. A merge joins as
// many as there are missions that were merged.
func addOrigin(snap *gitstore.Snapshot, op projects.Operation) {
	if op.Kind == string(missions.TriggerMerge) {
		for _, text := range op.Merged {
			if id, err := gitstore.ParseID(text); err == nil && !slices.Contains(snap.Parents, id) {
				snap.Parents = append(snap.Parents, id)
			}
		}
		return
	}
	from, err := gitstore.ParseID(op.Target)
	switch {
	case err != nil:
	case op.Kind != string(missions.TriggerPromote):
		snap.RestoredFrom = from
	default:
		snap.PromotedFrom = from
		if !slices.Contains(snap.Parents, from) {
			snap.Parents = append(snap.Parents, from)
		}
	}
}

// ParentList is the parents of a commit that has one parent, or none.
func ParentList(id gitstore.ID) []gitstore.ID {
	if id.IsZero() {
		return nil
	}
	return []gitstore.ID{id}
}

// newSnapshotInfo is the snapshot's own document.
func newSnapshotInfo(w *WantedSnapshot, c *capture.Result, s conversations.SessionState, now time.Time) projects.SnapshotInfo {
	info := projects.SnapshotInfo{
		Format: projects.RecordFormat, At: now, Triggers: w.Triggers.Texts(), Turn: w.Lifecycle.LastTurn(),
		Files: c.Stats.Files, Bytes: c.Stats.Bytes, Events: s.Events, ChangingPaths: c.Changing,
		Consistent: len(c.Changing) == 0 && !c.Moved, Late: w.Late, RequestedAt: w.RequestedAt,
		Partial: s.Partial || w.Partial, Corrected: c.Stats.Corrected, RequestIDs: w.requestIDs(),
	}
	if r, ok := w.Lifecycle.(missions.Running); ok {
		info.Prompt = r.Prompt
	}
	info.Typed = w.Typed
	for _, tool := range s.OpenTools {
		info.OpenTools = append(info.OpenTools, tool.Name)
	}
	return info
}

func putCaptureDocs(t *records.Tree, c *capture.Result) error {
	var errs []error
	for _, doc := range CaptureDocs(c) {
		errs = append(errs, t.Put(doc.name, doc.Content))
	}
	return errors.Join(errs...)
}

// recordedDoc is a document of a record.
type recordedDoc struct {
	name    string
	Content []byte
}

// CaptureDocs are the documents that a record keeps of a capture, in the order in which
// they are stored.
func CaptureDocs(c *capture.Result) []recordedDoc {
	return []recordedDoc{{projects.RulesDoc, c.Rules}, {projects.SkippedDoc, documents.SkippedDocument(c.Skipped)}, {projects.ModesDoc, c.Modes.Document()}}
}

// putSnapshotDocs writes the mission as it is at this snapshot.
func (tk *Taker) putSnapshotDocs(
	t *records.Tree, batch *shadow.Batch, m *projects.Mission, w *WantedSnapshot, info projects.SnapshotInfo, now time.Time,
) error {
	raw, err := missions.MarshalLifecycle(w.Lifecycle)
	if err != nil {
		return err
	}
	m.StoreLiveConfig()
	if m.Live.LastTool != nil {
		m.LastTool = m.Live.LastTool
	}
	m.Stored.Format, m.Stored.LifecycleJSON, m.RecordedStateSince, m.UpdatedAt = projects.RecordFormat, raw, m.StateSince, now
	if f, ok := w.Lifecycle.(missions.Failed); ok {
		m.LastError = f.Message
	}
	if err := errors.Join(
		projects.WriteDoc(t, projects.MissionDoc, m.Stored),
		projects.WriteDoc(t, projects.BindingDoc(tk.Home.Machine), m.Binding),
		projects.WriteDoc(t, projects.SnapshotDoc, info),
	); err != nil {
		return err
	}
	if err := putDisplaced(t, batch, m, w.Displaced); err != nil {
		return err
	}
	if w.Operation == nil {
		return t.Remove(projects.OperationDoc)
	}
	return projects.WriteDoc(t, projects.OperationDoc, w.Operation)
}

// WriteMetaRecord records a change of mission data alone, on top of the newest record.
// The move of the ref is made durable, since nothing else says what changed.
func (tk *Taker) WriteMetaRecord(ctx context.Context, m *projects.Mission, what string) error {
	now := tk.Now()
	before, err := m.Project.Store.Commit(m.Record)
	if err != nil {
		return err
	}
	batch := m.Project.Store.NewBatch()
	defer batch.Discard()
	raw, err := missions.MarshalLifecycle(m.Lifecycle)
	if err != nil {
		return err
	}
	m.Stored.LifecycleJSON, m.RecordedStateSince, m.UpdatedAt = raw, m.StateSince, now
	t := records.NewTree(m.Project.Store, before.Tree)
	err = errors.Join(
		projects.WriteDoc(t, projects.MissionDoc, m.Stored), projects.WriteDoc(t, projects.BindingDoc(tk.Home.Machine), m.Binding),
	)
	if err != nil {
		return err
	}
	tree, err := t.Write(batch)
	if err != nil {
		return err
	}
	author := before.Author
	author.When = now
	record, err := m.Project.Store.WriteRecord(batch, &gitstore.Record{
		Tree: tree, Parents: ParentList(m.Record), Author: author, At: now, Kind: gitstore.KindMeta, Mission: m.ID, Message: what,
	})
	if err != nil {
		return err
	}
	if err := batch.Flush(ctx); err != nil {
		return err
	}
	if err := errors.Join(batch.Prove(record), proveRecord(m.Project, batch, record, m.Record)); err != nil {
		return missions.Errorf(missions.KindDamaged, "umbra doctor", "the record of %s not written: %w", m.Name, err)
	}
	ref := gitstore.RecordRef(m.ID)
	if have, err := m.Project.Store.Ref(ref); err != nil || have != m.Record {
		if _, err := m.Project.Store.RepairRecords(ctx); err != nil {
			return err
		}
	}
	if err := m.Project.Store.UpdateRef(ctx, ref, m.Record, record, gitstore.Durable); err != nil {
		return err
	}
	m.Record = record
	return nil
}
