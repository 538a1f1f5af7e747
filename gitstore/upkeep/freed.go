package upkeep

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// Freed says, for each group of snapshots, about how many bytes of the disk are given back
// when all groups go: those of the objects that no kept snapshot has, nor its record. What
// several groups have counts in the first. A snapshot that can't be read is an error.
func Freed(ctx context.Context, s *shadow.Store, kept []gitstore.ID, groups [][]gitstore.ID) ([]int64, error) {
	const stays = shared
	w := weighing{store: s, owner: map[gitstore.ID]int{}}
	add := func(ids []gitstore.ID, owner int) error {
		for _, id := range ids {
			if err := ctx.Err(); err != nil {
				return err
			}
			snap, err := s.Snapshot(id)
			if err != nil {
				return err
			}
			for _, commit := range []gitstore.ID{id, snap.Record} {
				if _, known := w.owner[commit]; known || commit.IsZero() {
					continue
				}
				w.owner[commit] = owner
				c, err := s.Commit(commit)
				if err != nil {
					return fmt.Errorf("snapshot %s: %w", id.Short(), err)
				}
				w.own(c.Tree, owner)
			}
		}
		return nil
	}
	if err := add(kept, stays); err != nil {
		return nil, err
	}
	freed := make([]int64, len(groups))
	for n, ids := range groups {
		if err := add(ids, n); err != nil {
			return nil, err
		}
	}
	for id, owner := range w.owner {
		if owner == stays {
			delete(w.owner, id)
		}
	}
	sizes, _, err := w.sizes(ctx)
	for id, size := range sizes {
		freed[w.owner[id]] += size
	}
	return freed, err
}

// own gives a tree, and what is in it, to an owner where it has none yet.
func (w *weighing) own(id gitstore.ID, owner int) {
	if _, known := w.owner[id]; known {
		return
	}
	w.owner[id] = owner
	entries, err := w.store.Tree(id)
	if err != nil {
		return // doctor says so
	}
	for _, e := range entries {
		if e.Mode.IsDir() {
			w.own(e.ID, owner)
		} else if _, known := w.owner[e.ID]; !known && e.Mode.IsBlob() {
			w.owner[e.ID] = owner
		}
	}
}
