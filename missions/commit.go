package missions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

// commit takes one snapshot of a mission and publishes it: everything durable
// first, then the mission's ref by compare-and-swap, which is the commit point,
// then the records ref. A failure before that publishes nothing, and no older
// snapshot is handed out in its place. The caller holds the workspace.
func (l *Local) commit(ctx context.Context, m *loaded, w *wanted) (taken, error) {
	if err := l.space.Low(); err != nil {
		return taken{}, err
	}
	ws, err := l.workspace(ctx, m)
	if err != nil {
		return taken{}, err
	}
	before := *m
	t, err := l.tryCommit(ctx, m, w, ws)
	for again := 1; err != nil && again < mostTries && before.live.Provisional == ""; again++ {
		switch {
		case errors.Is(err, gitstore.ErrMissing), errors.Is(err, gitstore.ErrDamaged):
			// Objects that were there are not any more: read everything again,
			// which brings back what is on disk.
			ws.scanner.Suspect()
			ws.published = gitstore.ID{}
		case errors.Is(err, gitstore.ErrSessionChanged):
		default:
			return t, l.diskFull(err)
		}
		l.startOver(m, before)
		t, err = l.tryCommit(ctx, m, w, ws)
	}
	return t, l.diskFull(err)
}

// startOver makes a mission what it was before a snapshot that is to be tried again.
func (l *Local) startOver(m *loaded, before loaded) {
	*m = before
	l.counters.take(m.ID) // has counted on
}

// diskFull says what to do about a full disk, if that is what went wrong.
func (l *Local) diskFull(err error) error {
	if !isDiskFull(err) {
		return err
	}
	return Errorf(KindFailed, l.freeSpace(), "no snapshot was taken, the disk is full: %w", err)
}

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// freeSpace is what to do about a full disk.
func (l *Local) freeSpace() string { return "free some space on the disk that holds " + l.home.Dir }

// mostTries is how often a snapshot is tried that something got in the way of
// which need not be there the next time.
const mostTries = 3

func (l *Local) tryCommit(ctx context.Context, m *loaded, w *wanted, ws *workspace) (t taken, err error) {
	batch := m.project.store.NewBatch()
	defer batch.Discard()
	captured, err := ws.capture(ctx, m.project.store, batch, m.tip)
	if err != nil {
		return taken{}, l.captureFailed(m, err)
	}
	defer func() {
		if err != nil {
			ws.giveBack()
		}
	}()
	provisional := m.live.Provisional != ""
	if (w.OnlyIfChanged || provisional) && m.tip != nil && captured.Tree == m.tip.Tree && (w.filesOnly() || provisional || l.talkRecorded(m, ws)) {
		ws.accept(captured)
		return taken{snapshot: m.tip, unchanged: true}, nil
	}
	if provisional {
		if err := l.publishProvisional(ctx, m); err != nil {
			return taken{}, err
		}
	}
	if w.first != nil {
		if err := l.nameFirst(m, w); err != nil {
			return taken{}, err
		}
	}
	snap, err := l.writeWhole(ctx, m, w, ws, captured, batch)
	if err != nil {
		return taken{}, err
	}
	if w.first != nil {
		naming, another, err := l.claimName(ctx, m, w)
		if err != nil {
			return taken{}, err
		}
		if naming != nil {
			defer naming.Release()
		}
		if another {
			if snap, err = l.writeWhole(ctx, m, w, ws, captured, batch); err != nil {
				return taken{}, err
			}
		}
	}
	if w.provisional {
		m.tip, m.record, m.live.Provisional = snap, snap.Record, snap.ID.String()
	} else if err := l.publish(ctx, m, snap); err != nil {
		return taken{}, err
	} else {
		ws.published = snap.Tree
	}
	ws.accept(captured)
	return taken{snapshot: snap}, nil
}

// writeWhole makes the record and the snapshot, durable and proved.
func (l *Local) writeWhole(ctx context.Context, m *loaded, w *wanted, ws *workspace, c *capture.Result, batch *gitstore.Batch) (*gitstore.Snapshot, error) {
	snap, err := l.write(ctx, m, w, ws, c, batch)
	if err != nil {
		return nil, err
	}
	return snap, l.prove(ctx, m, ws, snap, batch)
}

// write adds the record and the snapshot to the batch.
func (l *Local) write(ctx context.Context, m *loaded, w *wanted, ws *workspace, c *capture.Result, batch *gitstore.Batch) (*gitstore.Snapshot, error) {
	now := l.now()
	author := ws.author()
	base := gitstore.ID{}
	if m.record != base {
		before, err := m.project.store.Commit(m.record)
		if err != nil {
			return nil, err
		}
		base = before.Tree
	}
	t := m.project.store.NewRecordTree(base)
	git, err := putUserGit(t, m.project.store, ws, batch)
	if err != nil {
		return nil, err
	}
	session, err := l.putSession(t, m, w.Take, ws, batch)
	if err != nil {
		return nil, err
	}
	if session.Meta.SessionID != "" {
		l.tally(m, session.Meta)
	}
	if m.unhooked() {
		w.Of, _ = Transition(w.Of, Spoken{Turn: m.life.LastTurn()})
	}
	info := infoOf(w, c, session, now)
	info.Talk, info.Unheard = m.talked(), m.unhooked() && (HasAgent(w.Of) || w.triggers.Has(TriggerClose) && !w.Late)
	if err := putCapture(t, c); err != nil {
		return nil, err
	}
	m.Step = m.nextStep(w.Of.LastTurn(), w.triggers)
	if err := l.putMission(t, batch, m, w, info, now); err != nil {
		return nil, err
	}
	tree, err := t.Write(batch)
	if err != nil {
		return nil, err
	}
	record, err := m.project.store.WriteRecord(batch, &gitstore.Record{
		Tree: tree, Parents: parents(m.record), Author: author.at(now), At: now,
		Kind: gitstore.KindSnapshot, Mission: m.ID, Message: w.What,
	})
	if err != nil {
		return nil, err
	}
	snap := &gitstore.Snapshot{
		Tree: c.Tree, Author: author.at(now), At: now, State: string(State(w.Of)), Message: w.What,
		Trailers: gitstore.Trailers{
			Mission: m.ID, Triggers: w.triggers.texts(), Turn: w.Of.LastTurn(), Record: record,
			Session: m.stored.Session, GitHead: git.Head, GitBranch: trimRef(git.Branch), Skipped: len(c.Skipped),
			Late: w.Late, Partial: info.Partial,
		},
	}
	if w.operation != nil {
		snap.RestoredFrom, _ = gitstore.ParseID(w.operation.Target)
	}
	if m.tip != nil {
		snap.Parents = []gitstore.ID{m.tip.ID}
		if snap.At.Before(m.tip.At) {
			snap.At = m.tip.At // a clock set back would break `git log --since`
		}
	}
	if m.Parent != nil && m.tip != nil && m.tip.Mission != m.ID {
		snap.ForkedFrom, _ = gitstore.ParseID(m.Parent.Snapshot)
	}
	snap.ID, err = batch.Commit(gitstore.FormatSnapshot(snap))
	return snap, err
}

func parents(id gitstore.ID) []gitstore.ID {
	if id.IsZero() {
		return nil
	}
	return []gitstore.ID{id}
}

// infoOf is the snapshot's own document.
func infoOf(w *wanted, c *capture.Result, s sessionState, now time.Time) snapshotInfo {
	info := snapshotInfo{
		Format: recordFormat, At: now, Triggers: w.triggers.texts(), Turn: w.Of.LastTurn(),
		Files: c.Stats.Files, Bytes: c.Stats.Bytes, Events: s.Events, Changing: c.Changing,
		Consistent: len(c.Changing) == 0, Late: w.Late, Moment: w.Moment, Partial: s.Partial || w.Partial, Corrected: c.Stats.Corrected, Requests: w.requests(),
	}
	if r, ok := w.Of.(Running); ok {
		info.Prompt = r.Prompt
	}
	for _, tool := range s.Open {
		info.OpenTools = append(info.OpenTools, tool.Name)
	}
	return info
}

func putCapture(t *gitstore.RecordTree, c *capture.Result) error {
	var errs []error
	for _, doc := range captureDocs(c) {
		errs = append(errs, t.Put(doc.name, doc.content))
	}
	return errors.Join(errs...)
}

// recordedDoc is a document of a record, by the name that it has there.
type recordedDoc struct {
	name    string
	content []byte
}

// captureDocs is what a record says of a capture, in the order in which it is stored.
func captureDocs(c *capture.Result) []recordedDoc {
	return []recordedDoc{{rulesDoc, c.Rules}, {skippedDoc, capture.SkippedDocument(c.Skipped)}, {modesDoc, c.Modes.Document()}}
}

// putMission writes the mission as it is at this snapshot.
func (l *Local) putMission(t *gitstore.RecordTree, batch *gitstore.Batch, m *loaded, w *wanted, info snapshotInfo, now time.Time) error {
	raw, err := marshalLifecycle(w.Of)
	if err != nil {
		return err
	}
	m.takeConfig()
	if m.live.LastTool != nil {
		m.LastTool = m.live.LastTool
	}
	m.stored.Format, m.stored.Lifecycle, m.Since, m.UpdatedAt = recordFormat, raw, m.since, now
	if f, ok := w.Of.(Failed); ok {
		m.LastError = f.Message
	}
	if err := errors.Join(
		writeDoc(t, missionDoc, m.stored),
		writeDoc(t, bindingDoc(l.home.Machine), m.bind),
		writeDoc(t, snapshotDoc, info),
	); err != nil {
		return err
	}
	if err := putDisplaced(t, batch, w.displaced); err != nil {
		return err
	}
	if w.operation == nil {
		return t.Remove(operationDoc)
	}
	return writeDoc(t, operationDoc, w.operation)
}

// prove makes the batch durable and proves that the snapshot is whole.
func (l *Local) prove(ctx context.Context, m *loaded, ws *workspace, snap *gitstore.Snapshot, batch *gitstore.Batch) error {
	if err := batch.Flush(ctx); err != nil {
		return err
	}
	before := ws.published // of another mission: this one begins
	if m.tip != nil {
		before = m.tip.Tree
	}
	failpoint.Hit("snapshot.flushed")
	err := batch.ProveTree(snap.Tree, before)
	if err == nil {
		err = batch.Prove(snap.ID, snap.Record)
	}
	if err == nil {
		err = m.project.proveRecord(batch, snap.Record, m.record)
	}
	if err != nil {
		return Errorf(KindDamaged, "umbra doctor", "snapshot of %s not taken: %w", m.Name, err)
	}
	return nil
}

// proveRecord proves that all is there that a record holds besides the one
// before, if there is one.
func (p *project) proveRecord(batch *gitstore.Batch, record, before gitstore.ID) error {
	var trees [2]gitstore.ID
	for i, id := range []gitstore.ID{record, before} {
		if id.IsZero() {
			continue
		}
		c, err := p.store.Commit(id)
		if err != nil {
			return err
		}
		trees[i] = c.Tree
	}
	return batch.ProveTree(trees[0], trees[1])
}

// publishProvisional publishes the first snapshot of a mission that waited for
// something to change. Its name may have been taken meanwhile.
func (l *Local) publishProvisional(ctx context.Context, m *loaded) error {
	naming, err := l.naming(ctx, m.project)
	if err != nil {
		return err
	}
	defer naming.Release()
	first := m.tip
	if err := m.project.proveWhole(first); err != nil {
		return Errorf(KindDamaged, "umbra doctor", "the first snapshot of %s is not published: %w", m.Name, err)
	}
	m.tip, m.record = nil, gitstore.ID{}
	if m.Unnamed && m.live.Name != "" {
		m.Name, m.Unnamed = m.live.Name, false
	}
	if m.Name, err = l.taken(m.project).free(m.Name); err != nil {
		return err
	}
	if err := l.publish(ctx, m, first); err != nil {
		return err
	}
	m.live.Provisional, m.live.Asked, m.live.Name = "", nil, ""
	return nil
}

// proveWhole proves that everything of a snapshot is there that was written some
// time ago.
func (p *project) proveWhole(s *gitstore.Snapshot) error {
	batch := p.store.NewBatch()
	defer batch.Discard()
	return errors.Join(batch.ProveTree(s.Tree, gitstore.ID{}), batch.Prove(s.ID, s.Record), p.proveRecord(batch, s.Record, gitstore.ID{}))
}

// publish moves the refs: the mission's, which is the commit point, and the one
// of its records. The mission's name begins to lead to it with its first
// snapshot.
func (l *Local) publish(ctx context.Context, m *loaded, snap *gitstore.Snapshot) error {
	var old gitstore.ID
	if m.tip != nil {
		old = m.tip.ID
	}
	if err := m.project.store.UpdateRef(ctx, gitstore.AgentRef(m.ID), old, snap.ID, gitstore.Durable); err != nil {
		return Errorf(KindFailed, "", "snapshot of %s not taken: %w", m.Name, err)
	}
	failpoint.Hit("snapshot.published")
	first := m.tip == nil
	before := m.record
	m.tip, m.record = snap, snap.Record
	if first {
		before = gitstore.ID{}
		if err := l.publishName(ctx, m); err != nil {
			// The snapshot stands; doctor makes the name lead to it.
			l.log.Warn("make the name lead to its mission", "mission", m.ID, "name", m.Name, "error", err)
		}
	}
	failpoint.Hit("snapshot.named")
	if err := m.project.store.UpdateRef(ctx, gitstore.RecordRef(m.ID), before, snap.Record, gitstore.Derived); err != nil {
		// The snapshot stands, and the ref follows from it.
		if _, repair := m.project.store.RepairRecords(ctx); repair != nil {
			l.log.Warn("move the records ref", "mission", m.ID, "error", errors.Join(err, repair))
		}
	}
	return nil
}

// publishName makes refs/heads/<name> lead to the mission.
func (l *Local) publishName(ctx context.Context, m *loaded) error {
	return m.project.store.SetSymbolic(ctx, gitstore.HeadRef(m.Name), "", gitstore.AgentRef(m.ID), gitstore.Durable)
}

// captureFailed says what went wrong while the workspace was read.
func (l *Local) captureFailed(m *loaded, err error) error {
	if errors.Is(err, capture.ErrMoved) {
		return moved(m, err.Error())
	}
	if refusedRoot(err) {
		return err
	}
	return fmt.Errorf("snapshot of %s: %w", cmp.Or(m.Name, m.bind.Workspace), err) // one that is being made has no name yet
}

// writeMeta records a change of mission data alone, on top of the newest
// record. Since nothing else says it, moving the ref is made durable.
func (l *Local) writeMeta(ctx context.Context, m *loaded, what string) error {
	now := l.now()
	before, err := m.project.store.Commit(m.record)
	if err != nil {
		return err
	}
	batch := m.project.store.NewBatch()
	defer batch.Discard()
	raw, err := marshalLifecycle(m.life)
	if err != nil {
		return err
	}
	m.stored.Lifecycle, m.Since, m.UpdatedAt = raw, m.since, now
	t := m.project.store.NewRecordTree(before.Tree)
	if err := errors.Join(writeDoc(t, missionDoc, m.stored), writeDoc(t, bindingDoc(l.home.Machine), m.bind)); err != nil {
		return err
	}
	tree, err := t.Write(batch)
	if err != nil {
		return err
	}
	author := before.Author
	author.When = now
	record, err := m.project.store.WriteRecord(batch, &gitstore.Record{
		Tree: tree, Parents: parents(m.record), Author: author, At: now, Kind: gitstore.KindMeta, Mission: m.ID, Message: what,
	})
	if err != nil {
		return err
	}
	if err := batch.Flush(ctx); err != nil {
		return err
	}
	if err := errors.Join(batch.Prove(record), m.project.proveRecord(batch, record, m.record)); err != nil {
		return Errorf(KindDamaged, "umbra doctor", "the record of %s not written: %w", m.Name, err)
	}
	ref := gitstore.RecordRef(m.ID)
	if have, err := m.project.store.Ref(ref); err != nil || have != m.record {
		if _, err := m.project.store.RepairRecords(ctx); err != nil {
			return err
		}
	}
	if err := m.project.store.UpdateRef(ctx, ref, m.record, record, gitstore.Durable); err != nil {
		return err
	}
	m.record = record
	return nil
}
