package prunes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/retention"
)

// patience is how long a pruning waits for a moment in which nobody takes a snapshot.
const patience = time.Minute

// hold runs fn with the project's lock. Exclusive, no other process captures, restores or
// prunes meanwhile.
func (pr *Pruner) hold(ctx context.Context, p *projects.Project, mode lock.Mode, fn func() error) error {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	held, err := lock.Wait(patient, lock.ProjectFile(pr.Home.Dir, p.ID), mode, pr.Self)
	if err != nil {
		return home.LockError(err)
	}
	return errors.Join(fn(), held.Release())
}

// mark marks where histories are cut. What was decided on is decided again, now that nothing
// moves: who began to rely on a snapshot since keeps it, and nothing goes that was not said
// to go.
func (pr *Pruner) mark(ctx context.Context, w work, said retention.Plan) error {
	return pr.hold(ctx, w.project, lock.Exclusive, func() error {
		if err := pr.checkNothingInFlight(); err != nil {
			return err
		}
		m, err := pr.gather(ctx, w.choice, w.snapshots)
		if err != nil {
			return err
		}
		for id := range said.Kept {
			m.Claims = append(m.Claims, retention.Claim{ID: id, Reason: retention.InUse})
		}
		plan, err := retention.Decide(m.Material, w.at)
		if err != nil {
			return err
		}
		kept := func(snapshot gitstore.ID) bool { return plan.Kept[snapshot] != nil }
		chains, err := m.keepRecords(ctx, kept, w.snapshots, w.inherited)
		if err != nil {
			return err
		}
		cuts := maps.Clone(plan.Cuts)
		maps.Copy(cuts, chains.cuts())
		if err := pr.keepUnreached(ctx, m, chains, cuts); err != nil {
			return err
		}
		stays := func(commit gitstore.ID) bool { return kept(commit) || chains.kept[commit] }
		return shadow.Cut(ctx, m.project.Store, cuts, stays, w.at)
	})
}

// keepUnreached has a ref lead to each record that stays and that no other will lead to.
func (pr *Pruner) keepUnreached(ctx context.Context, m material, c *chains, cuts map[gitstore.ID]gitstore.ID) error {
	reached := map[gitstore.ID]bool{}
	reach := func(id gitstore.ID) {
		for !id.IsZero() && !reached[id] {
			reached[id] = true
			if before, cut := cuts[id]; cut {
				id = before
			} else {
				id = c.before(id)
			}
		}
	}
	for _, ref := range m.refs {
		switch ref.Name.Kind() {
		case gitstore.RefRecord, gitstore.RefTrashRecord, gitstore.RefFetchedRecord, gitstore.RefKeep:
			reach(ref.ID)
		}
	}
	for id := range c.kept {
		if reached[id] {
			continue
		}
		if err := m.project.Store.UpdateRef(ctx, gitstore.KeepRef(id), gitstore.ID{}, id, gitstore.Durable); err != nil {
			return err
		}
	}
	return nil
}

// giveBack has what nothing leads to any more removed from the disk.
func (pr *Pruner) giveBack(ctx context.Context, p *projects.Project) (bytes int64, err error) {
	return upkeep.GiveBack(ctx, p.Store, upkeep.GiveBackOptions{
		Beside: func(fn func() error) error { return pr.hold(ctx, p, lock.Shared, fn) },
		Alone: func(fn func() error) error {
			return pr.hold(ctx, p, lock.Exclusive, func() error {
				if err := pr.checkNothingInFlight(); err != nil {
					return err
				}
				return fn()
			})
		},
		Roots: func() ([]gitstore.ID, error) { return pr.unpublished(p) },
	})
}

// checkNothingInFlight refuses while an operation is not over: what it has written may be
// published later.
func (pr *Pruner) checkNothingInFlight() error {
	list, damaged, err := pr.Journal.List()
	if err != nil {
		return err
	}
	if len(damaged) > 0 {
		return missions.Errorf(missions.KindDamaged, "umbra doctor", "an operation can't be read: %w", damaged[0])
	}
	for _, op := range list {
		if phase, _ := op.Phase(); phase != journal.Done {
			return missions.Errorf(missions.KindBusy, "umbra status shows it; umbra prune again when it is over", "a %s is not over, and may need what is to go", op.Kind())
		}
	}
	return nil
}

// unpublished are the first snapshots of headless sessions, and their records, to which no
// ref leads yet.
func (pr *Pruner) unpublished(p *projects.Project) (roots []gitstore.ID, err error) {
	ids, err := pr.Journal.LiveMissions()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		raw, err := pr.Journal.Live(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var state projects.Live
		if err == nil {
			err = json.Unmarshal(raw, &state)
		}
		if err != nil {
			return nil, fmt.Errorf("the state of mission %s: %w", id, err)
		}
		if state.ProvisionalSnapshot == "" {
			continue
		}
		first, err := gitstore.ParseID(state.ProvisionalSnapshot)
		if err != nil {
			return nil, fmt.Errorf("the state of mission %s: %w", id, err)
		}
		snap, err := p.Store.Snapshot(first)
		if errors.Is(err, gitstore.ErrMissing) {
			continue // of another project
		}
		if err != nil {
			return nil, err
		}
		roots = append(roots, snap.ID, snap.Record)
	}
	return roots, nil
}
