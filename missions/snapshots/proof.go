package snapshots

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// writeAndProve makes the record and the snapshot, durable and proved.
func (tk *Taker) writeAndProve(
	ctx context.Context, m *projects.Mission, w *WantedSnapshot, ws *WorkspaceCache, c *capture.Result, batch *shadow.Batch,
) (*gitstore.Snapshot, error) {
	snap, err := tk.WriteSnapshot(ctx, m, w, ws, c, batch)
	if err != nil {
		return nil, err
	}
	return snap, tk.proveSnapshot(ctx, m, ws, snap, batch)
}

// proveSnapshot makes the batch durable and proves that the snapshot is whole.
func (tk *Taker) proveSnapshot(ctx context.Context, m *projects.Mission, ws *WorkspaceCache, snap *gitstore.Snapshot, batch *shadow.Batch) error {
	if err := batch.Flush(ctx); err != nil {
		return err
	}
	before := ws.published.tree // of another mission: this one begins
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

// proveRecord proves that everything is stored that a record holds and the record
// before it does not.
func proveRecord(p *projects.Project, batch *shadow.Batch, record, before gitstore.ID) error {
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

// proveWholeSnapshot proves all of a snapshot that was written some time ago.
func proveWholeSnapshot(p *projects.Project, s *gitstore.Snapshot) error {
	batch := p.Store.NewBatch()
	defer batch.Discard()
	return errors.Join(batch.ProveTree(s.Tree, gitstore.ID{}), batch.Prove(s.ID, s.Record), proveRecord(p, batch, s.Record, gitstore.ID{}))
}
