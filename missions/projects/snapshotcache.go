package projects

import (
	"iter"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// snapshotCache are what a process remembers of history, which never changes, so that
// a walk over it costs little the second time. What is remembered is not proved
// to be there still: who checks or restores reads the store. It is safe for
// concurrent use.
type snapshotCache struct {
	mu   sync.Mutex
	ByID map[gitstore.ID]*gitstore.Snapshot
}

// MaxCachedSnapshots bounds what is remembered, at less than 1 KiB each. Beyond it all
// is forgotten: whoever walks further than that pays for it. A mission of 10,000 snapshots
// is to fit in.
const MaxCachedSnapshots = 16384

func newSnapshotCache() *snapshotCache {
	return &snapshotCache{ByID: map[gitstore.ID]*gitstore.Snapshot{}}
}

// ReadSnapshot reads one snapshot, which is not to be changed.
func (h *snapshotCache) ReadSnapshot(store *shadow.Store, id gitstore.ID) (*gitstore.Snapshot, error) {
	h.mu.Lock()
	s := h.ByID[id]
	h.mu.Unlock()
	if s != nil && !store.Bounded(id) {
		return s, nil
	}
	c, err := store.Commit(id)
	if err != nil {
		return nil, err
	}
	s = gitstore.ParseSnapshot(c)
	if !s.Lost.IsZero() {
		return s, nil // the lost one may come back
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.ByID) >= MaxCachedSnapshots {
		clear(h.ByID)
	}
	h.ByID[id] = s
	return s, nil
}

// WalkHistory is shadow.Store.Snapshots, from memory where it can.
func (h *snapshotCache) WalkHistory(store *shadow.Store, tip gitstore.ID) iter.Seq2[*gitstore.Snapshot, error] {
	return func(yield func(*gitstore.Snapshot, error) bool) {
		if err := store.Reread(); err != nil {
			yield(nil, err)
			return
		}
		for id := tip; !id.IsZero(); {
			s, err := h.ReadSnapshot(store, id)
			if err != nil {
				yield(nil, err)
				return
			}
			if s.Mission == "" || !yield(s, nil) {
				return
			}
			id = s.Parent()
		}
	}
}
