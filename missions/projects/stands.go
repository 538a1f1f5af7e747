package projects

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// CheckNotPruned refuses a snapshot that was pruned since it was found: its objects may go at
// any moment. Whoever builds on one has named it in the journal first, which pruning heeds.
func (l *Locks) CheckNotPruned(ctx context.Context, m *Mission, s *gitstore.Snapshot) (err error) {
	held, err := lock.Wait(ctx, lock.ProjectFile(l.Home.Dir, m.Project.ID), lock.Shared, l.Self)
	if err != nil {
		return home.LockError(err)
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	stands, err := m.Project.stands(ctx, s)
	if err == nil && !stands {
		err = missions.Errorf(missions.KindNotFound, "umbra log "+m.Name+" shows what is left", "snapshot %s of %s was pruned just now", s.ID.Short(), m.Name)
	}
	return err
}

// stands reports whether a snapshot is there to stay: it is stored, and if something was
// pruned that may still be stored, refs lead to it.
func (p *Project) stands(ctx context.Context, s *gitstore.Snapshot) (bool, error) {
	batch := p.Store.NewBatch()
	defer batch.Discard()
	if err := batch.Prove(s.ID, s.Record); err != nil || !shadow.Owes(p.Store) {
		return err == nil, nil
	}
	if err := p.Store.Reread(); err != nil {
		return false, err
	}
	refs, err := p.Store.Refs("")
	if err != nil {
		return false, err
	}
	var todo []gitstore.ID
	for _, ref := range refs.Refs {
		switch ref.Name.Kind() {
		case gitstore.RefAgent, gitstore.RefTrashAgent, gitstore.RefFetchedAgent, gitstore.RefPin:
			todo = append(todo, ref.ID)
		}
	}
	seen := map[gitstore.ID]bool{}
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if id == s.ID || ctx.Err() != nil {
			return id == s.ID, ctx.Err()
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		if at, err := p.SnapshotCache.ReadSnapshot(p.Store, id); err == nil { // what is behind a gap is found by its own ref, or not at all
			todo = append(todo, at.Parents...)
		}
	}
	return false, nil
}
