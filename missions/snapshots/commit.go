package snapshots

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TakeSnapshot takes one snapshot of a mission and publishes it: everything durable
// first, then the mission's ref by compare-and-swap, which is the commit point,
// then the records ref. A failure before that publishes nothing, and no older
// snapshot is handed out in its place. The caller holds the workspace.
func (tk *Taker) TakeSnapshot(ctx context.Context, m *projects.Mission, w *WantedSnapshot) (takenSnapshot, error) {
	if err := tk.Space.CheckRoom(); err != nil {
		return takenSnapshot{}, err
	}
	ws, err := tk.RefreshWorkspace(ctx, m)
	if err != nil {
		return takenSnapshot{}, err
	}
	before := *m
	t, err := tk.TryTakeSnapshot(ctx, m, w, ws)
	for again := 1; err != nil && again < maxTries && before.Live.ProvisionalSnapshot == ""; again++ {
		switch {
		case errors.Is(err, gitstore.ErrMissing), errors.Is(err, gitstore.ErrDamaged):
			// Objects that were there are not any more: read everything again,
			// which brings back what is on disk.
			ws.Scanner.Suspect()
			ws.publishedTree = gitstore.ID{}
		case errors.Is(err, gitstore.ErrSessionChanged):
		default:
			return t, tk.diskFullError(err)
		}
		tk.ResetMission(m, before)
		t, err = tk.TryTakeSnapshot(ctx, m, w, ws)
	}
	return t, tk.diskFullError(err)
}

// ResetMission makes a mission what it was before a snapshot that is to be tried again.
func (tk *Taker) ResetMission(m *projects.Mission, before projects.Mission) {
	*m = before
	tk.conversations.CounterPool.Take(m.ID) // has counted on
}

// diskFullError says what to do about a full disk, if that is what went wrong.
func (tk *Taker) diskFullError(err error) error {
	if !home.IsDiskFull(err) {
		return err
	}
	return missions.Errorf(missions.KindFailed, tk.FreeSpaceHint(), "no snapshot was taken, the disk is full: %w", err)
}

// FreeSpaceHint is what to do about a full disk.
func (tk *Taker) FreeSpaceHint() string {
	return "free some space on the disk that holds " + tk.Home.Dir
}

// maxTries is how often a snapshot is tried that something got in the way of
// which need not be there the next time.
const maxTries = 3

func (tk *Taker) TryTakeSnapshot(ctx context.Context, m *projects.Mission, w *WantedSnapshot, ws *WorkspaceCache) (t takenSnapshot, err error) {
	batch := m.Project.Store.NewBatch()
	defer batch.Discard()
	captured, err := ws.CaptureFiles(ctx, m.Project.Store, batch, m.Tip)
	if err != nil {
		return takenSnapshot{}, tk.captureError(m, err)
	}
	defer func() {
		if err != nil {
			ws.ReturnCapture()
		}
	}()
	provisional := m.Live.ProvisionalSnapshot != ""
	if (w.OnlyIfChanged || provisional) && m.Tip != nil && captured.Tree == m.Tip.Tree && (w.IsFilesOnly() || provisional || tk.isConversationRecorded(m, ws)) {
		ws.AcceptCapture(captured)
		return takenSnapshot{Snapshot: m.Tip, isUnchanged: true}, nil
	}
	if provisional {
		if err := tk.publishProvisional(ctx, m); err != nil {
			return takenSnapshot{}, err
		}
	}
	if w.NewMission != nil {
		if err := tk.chooseFirstName(m, w); err != nil {
			return takenSnapshot{}, err
		}
	}
	snap, err := tk.writeAndProve(ctx, m, w, ws, captured, batch)
	if err != nil {
		return takenSnapshot{}, err
	}
	if w.NewMission != nil {
		naming, another, err := tk.claimName(ctx, m, w)
		if err != nil {
			return takenSnapshot{}, err
		}
		if naming != nil {
			defer naming.Release()
		}
		if another {
			if snap, err = tk.writeAndProve(ctx, m, w, ws, captured, batch); err != nil {
				return takenSnapshot{}, err
			}
		}
	}
	if w.IsProvisional {
		m.Tip, m.Record, m.Live.ProvisionalSnapshot = snap, snap.Record, snap.ID.String()
	} else if err := tk.publishSnapshot(ctx, m, snap); err != nil {
		return takenSnapshot{}, err
	} else {
		ws.publishedTree = snap.Tree
	}
	ws.AcceptCapture(captured)
	return takenSnapshot{Snapshot: snap}, nil
}

// writeAndProve makes the record and the snapshot, durable and proved.
func (tk *Taker) writeAndProve(ctx context.Context, m *projects.Mission, w *WantedSnapshot, ws *WorkspaceCache, c *capture.Result, batch *gitstore.Batch) (*gitstore.Snapshot, error) {
	snap, err := tk.WriteSnapshot(ctx, m, w, ws, c, batch)
	if err != nil {
		return nil, err
	}
	return snap, tk.proveSnapshot(ctx, m, ws, snap, batch)
}

// WriteSnapshot adds the record and the snapshot to the batch.
func (tk *Taker) WriteSnapshot(ctx context.Context, m *projects.Mission, w *WantedSnapshot, ws *WorkspaceCache, c *capture.Result, batch *gitstore.Batch) (*gitstore.Snapshot, error) {
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
	t := m.Project.Store.NewRecordTree(base)
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
	info.Tally, info.WithoutHooks = conversations.MissionTally(&m.Stored), conversations.RunsWithoutHooks(m) && (missions.HasAgent(w.Lifecycle) || w.Triggers.Has(missions.TriggerClose) && !w.Late)
	if err := putCaptureDocs(t, c); err != nil {
		return nil, err
	}
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
			Mission: m.ID, Triggers: w.Triggers.Texts(), Turn: w.Lifecycle.LastTurn(), Record: record,
			Session: m.Stored.Session, GitHead: git.Head, GitBranch: BranchName(git.Branch), Skipped: len(c.Skipped),
			Late: w.Late, Partial: info.Partial,
		},
	}
	if w.Operation != nil {
		snap.RestoredFrom, _ = gitstore.ParseID(w.Operation.Target)
	}
	if m.Tip != nil {
		snap.Parents = []gitstore.ID{m.Tip.ID}
		if snap.At.Before(m.Tip.At) {
			snap.At = m.Tip.At // a clock set back would break `git log --since`
		}
	}
	if m.Parent != nil && m.Tip != nil && m.Tip.Mission != m.ID {
		snap.ForkedFrom, _ = gitstore.ParseID(m.Parent.Snapshot)
	}
	snap.ID, err = batch.Commit(gitstore.FormatSnapshot(snap))
	return snap, err
}

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
		Consistent: len(c.Changing) == 0, Late: w.Late, RequestedAt: w.RequestedAt, Partial: s.Partial || w.Partial, Corrected: c.Stats.Corrected, RequestIDs: w.requestIDs(),
	}
	if r, ok := w.Lifecycle.(missions.Running); ok {
		info.Prompt = r.Prompt
	}
	for _, tool := range s.OpenTools {
		info.OpenTools = append(info.OpenTools, tool.Name)
	}
	return info
}

func putCaptureDocs(t *gitstore.RecordTree, c *capture.Result) error {
	var errs []error
	for _, doc := range CaptureDocs(c) {
		errs = append(errs, t.Put(doc.name, doc.Content))
	}
	return errors.Join(errs...)
}

// recordedDoc is a document of a record, by the name that it has there.
type recordedDoc struct {
	name    string
	Content []byte
}

// CaptureDocs is what a record says of a capture, in the order in which it is stored.
func CaptureDocs(c *capture.Result) []recordedDoc {
	return []recordedDoc{{projects.RulesDoc, c.Rules}, {projects.SkippedDoc, capture.SkippedDocument(c.Skipped)}, {projects.ModesDoc, c.Modes.Document()}}
}

// putSnapshotDocs writes the mission as it is at this snapshot.
func (tk *Taker) putSnapshotDocs(t *gitstore.RecordTree, batch *gitstore.Batch, m *projects.Mission, w *WantedSnapshot, info projects.SnapshotInfo, now time.Time) error {
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
	if err := putDisplaced(t, batch, w.Displaced); err != nil {
		return err
	}
	if w.Operation == nil {
		return t.Remove(projects.OperationDoc)
	}
	return projects.WriteDoc(t, projects.OperationDoc, w.Operation)
}

// proveSnapshot makes the batch durable and proves that the snapshot is whole.
func (tk *Taker) proveSnapshot(ctx context.Context, m *projects.Mission, ws *WorkspaceCache, snap *gitstore.Snapshot, batch *gitstore.Batch) error {
	if err := batch.Flush(ctx); err != nil {
		return err
	}
	before := ws.publishedTree // of another mission: this one begins
	if m.Tip != nil {
		before = m.Tip.Tree
	}
	failpoint.Hit("snapshot.flushed")
	err := batch.ProveTree(snap.Tree, before)
	if err == nil {
		err = batch.Prove(snap.ID, snap.Record)
	}
	if err == nil {
		err = proveRecord(m.Project, batch, snap.Record, m.Record)
	}
	if err != nil {
		return missions.Errorf(missions.KindDamaged, "umbra doctor", "snapshot of %s not taken: %w", m.Name, err)
	}
	return nil
}

// proveRecord proves that all is there that a record holds besides the one
// before, if there is one.
func proveRecord(p *projects.Project, batch *gitstore.Batch, record, before gitstore.ID) error {
	var trees [2]gitstore.ID
	for i, id := range []gitstore.ID{record, before} {
		if id.IsZero() {
			continue
		}
		c, err := p.Store.Commit(id)
		if err != nil {
			return err
		}
		trees[i] = c.Tree
	}
	return batch.ProveTree(trees[0], trees[1])
}

// publishProvisional publishes the first snapshot of a mission that waited for
// something to change. Its name may have been taken meanwhile.
func (tk *Taker) publishProvisional(ctx context.Context, m *projects.Mission) error {
	naming, err := tk.addresses.LockNames(ctx, m.Project)
	if err != nil {
		return err
	}
	defer naming.Release()
	first := m.Tip
	if err := proveWholeSnapshot(m.Project, first); err != nil {
		return missions.Errorf(missions.KindDamaged, "umbra doctor", "the first snapshot of %s is not published: %w", m.Name, err)
	}
	m.Tip, m.Record = nil, gitstore.ID{}
	if m.Unnamed && m.Live.PendingName != "" {
		m.Name, m.Unnamed = m.Live.PendingName, false
	}
	if m.Name, err = tk.addresses.TakenNamesOf(m.Project).FreeName(m.Name); err != nil {
		return err
	}
	if err := tk.publishSnapshot(ctx, m, first); err != nil {
		return err
	}
	m.Live.ProvisionalSnapshot, m.Live.ProvisionalPrompt, m.Live.PendingName = "", nil, ""
	return nil
}

// proveWholeSnapshot proves that everything of a snapshot is there that was written some
// time ago.
func proveWholeSnapshot(p *projects.Project, s *gitstore.Snapshot) error {
	batch := p.Store.NewBatch()
	defer batch.Discard()
	return errors.Join(batch.ProveTree(s.Tree, gitstore.ID{}), batch.Prove(s.ID, s.Record), proveRecord(p, batch, s.Record, gitstore.ID{}))
}

// publishSnapshot moves the refs: the mission's, which is the commit point, and the one
// of its records. The mission's name begins to lead to it with its first
// snapshot.
func (tk *Taker) publishSnapshot(ctx context.Context, m *projects.Mission, snap *gitstore.Snapshot) error {
	var old gitstore.ID
	if m.Tip != nil {
		old = m.Tip.ID
	}
	if err := m.Project.Store.UpdateRef(ctx, gitstore.AgentRef(m.ID), old, snap.ID, gitstore.Durable); err != nil {
		return missions.Errorf(missions.KindFailed, "", "snapshot of %s not taken: %w", m.Name, err)
	}
	failpoint.Hit("snapshot.published")
	first := m.Tip == nil
	before := m.Record
	m.Tip, m.Record = snap, snap.Record
	if first {
		before = gitstore.ID{}
		if err := tk.PublishName(ctx, m); err != nil {
			// The snapshot stands; doctor makes the name lead to it.
			tk.Logger.Warn("make the name lead to its mission", "mission", m.ID, "name", m.Name, "error", err)
		}
	}
	failpoint.Hit("snapshot.named")
	if err := m.Project.Store.UpdateRef(ctx, gitstore.RecordRef(m.ID), before, snap.Record, gitstore.Derived); err != nil {
		// The snapshot stands, and the ref follows from it.
		if _, repair := m.Project.Store.RepairRecords(ctx); repair != nil {
			tk.Logger.Warn("move the records ref", "mission", m.ID, "error", errors.Join(err, repair))
		}
	}
	return nil
}

// PublishName makes refs/heads/<name> lead to the mission.
func (tk *Taker) PublishName(ctx context.Context, m *projects.Mission) error {
	return m.Project.Store.SetSymbolic(ctx, gitstore.HeadRef(m.Name), "", gitstore.AgentRef(m.ID), gitstore.Durable)
}

// captureError says what went wrong while the workspace was read.
func (tk *Taker) captureError(m *projects.Mission, err error) error {
	if errors.Is(err, capture.ErrMoved) {
		return projects.WorkspaceMovedError(m, err.Error())
	}
	if IsRefusedRoot(err) {
		return err
	}
	return fmt.Errorf("snapshot of %s: %w", cmp.Or(m.Name, m.Binding.Workspace), err) // one that is being made has no name yet
}

// WriteMetaRecord records a change of mission data alone, on top of the newest
// record. Since nothing else says it, moving the ref is made durable.
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
	t := m.Project.Store.NewRecordTree(before.Tree)
	if err := errors.Join(projects.WriteDoc(t, projects.MissionDoc, m.Stored), projects.WriteDoc(t, projects.BindingDoc(tk.Home.Machine), m.Binding)); err != nil {
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
