package trash

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// trashRefs moves the mission's refs. The trash refs come first, so that every snapshot
// stays reachable wherever this is cut off.
func (b *Bin) trashRefs(ctx context.Context, m *projects.Mission) error {
	store := m.Project.Store
	record, err := store.Ref(gitstore.RecordRef(m.ID))
	if err != nil {
		record = m.Record
	}
	for _, move := range []struct {
		from, to gitstore.RefName
		id       gitstore.ID
	}{
		{gitstore.RecordRef(m.ID), gitstore.TrashRecordRef(m.ID), record},
		{gitstore.AgentRef(m.ID), gitstore.TrashAgentRef(m.ID), m.Tip.ID},
	} {
		// A removal that was cut off has left one there already.
		before, err := store.Ref(move.to)
		if err != nil && !errors.Is(err, gitstore.ErrRefNotFound) {
			return err
		}
		if before == move.id {
			continue
		}
		if err := store.UpdateRef(ctx, move.to, before, move.id, gitstore.Durable); err != nil {
			return err
		}
	}
	failpoint.Hit("remove.kept")
	if err := store.DeleteSymbolic(ctx, gitstore.HeadRef(m.Name), gitstore.AgentRef(m.ID)); err != nil {
		// A removal that was cut off has taken the name away already.
		if _, gone := store.Symbolic(gitstore.HeadRef(m.Name)); !errors.Is(gone, gitstore.ErrRefNotFound) {
			return err
		}
	}
	if err := store.DeleteRef(ctx, gitstore.AgentRef(m.ID), m.Tip.ID); err != nil {
		return err
	}
	failpoint.Hit("remove.unpublished")
	return store.DeleteRef(ctx, gitstore.RecordRef(m.ID), record)
}

// untrashRefsLocked moves the refs back while nothing else can take the name.
func (b *Bin) untrashRefsLocked(ctx context.Context, m *projects.Mission) error {
	named, err := b.addresses.LockNames(ctx, m.Project)
	if err != nil {
		return err
	}
	defer named.Release()
	if err := b.checkUnremoval(m); err != nil {
		return err
	}
	return UntrashRefs(ctx, m)
}

// UntrashRefs moves the refs back. The trash refs go last, so that every snapshot stays
// reachable wherever this is cut off. If the name is missing then, doctor gives it.
func UntrashRefs(ctx context.Context, m *projects.Mission) error {
	store, agent := m.Project.Store, gitstore.AgentRef(m.ID)
	for _, put := range []struct {
		name gitstore.RefName
		id   gitstore.ID
	}{{gitstore.RecordRef(m.ID), m.Record}, {agent, m.Tip.ID}} {
		before, err := store.Ref(put.name)
		if err != nil && !errors.Is(err, gitstore.ErrRefNotFound) {
			return err
		}
		if before == put.id {
			continue
		}
		if err := store.UpdateRef(ctx, put.name, before, put.id, gitstore.Durable); err != nil {
			return err
		}
	}
	if err := store.SetSymbolic(ctx, gitstore.HeadRef(m.Name), "", agent, gitstore.Durable); err != nil {
		return err
	}
	if err := store.DeleteRef(ctx, gitstore.TrashAgentRef(m.ID), m.Tip.ID); err != nil {
		return err
	}
	if kept, err := store.Ref(gitstore.TrashRecordRef(m.ID)); err == nil {
		return store.DeleteRef(ctx, gitstore.TrashRecordRef(m.ID), kept)
	}
	return nil
}
