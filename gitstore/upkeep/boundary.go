package upkeep

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// Boundary is a commit at which a history breaks off.
type Boundary struct {
	// Mission is whose snapshots or, if Record is set, records they are.
	Mission string
	Record  bool
	// After is the oldest commit after the lost one, Lost the lost one, and Before
	// the newest that is left of those before it, zero if none is.
	After, Lost, Before gitstore.ID
}

// Bound makes a boundary wherever a commit is lost in the middle of a history of this
// home that refs or roots lead to: what is whole before it stays a part of that history.
// A history that was only fetched gets none, since git would take it for whole and never
// fetch what is lost again. A boundary whose lost commit is there again is taken away. At
// is what Newest asks. It takes a git.
func Bound(ctx context.Context, s *shadow.Store, at func(*gitstore.Snapshot) time.Time, roots ...gitstore.ID) ([]Boundary, error) {
	if err := s.Regained(ctx); err != nil {
		return nil, err
	}
	r, err := shadow.ReachOwn(ctx, s, roots)
	if err != nil {
		return nil, err
	}
	ends := map[bool][]*gitstore.Commit{} // by whether they are records
	for id, kind := range r.Seen {
		if kind != gitstore.TypeCommit || r.Unread[id] != nil {
			continue
		}
		c, err := s.Commit(id)
		if err == nil && errors.Is(r.Unread[c.FirstParent()], gitstore.ErrMissing) {
			ends[isRecord(c)] = append(ends[isRecord(c)], c)
		}
	}
	if len(ends) == 0 {
		return nil, nil
	}
	b := &bounding{ctx: ctx, store: s, at: at}
	if b.snapshots, err = StoredSnapshots(ctx, s); err != nil {
		return nil, err
	}
	for _, records := range []bool{false, true} { // records are found by the snapshots
		for _, end := range ends[records] {
			if err := b.from(end, records); err != nil {
				return b.made, err
			}
		}
	}
	return b.made, nil
}

// bounding is one Bound.
type bounding struct {
	ctx       context.Context
	store     *shadow.Store
	snapshots []*gitstore.Snapshot // all that are stored
	at        func(*gitstore.Snapshot) time.Time
	made      []Boundary
}

// from makes a boundary of a commit, and of the next one in what is left before it.
func (b *bounding) from(end *gitstore.Commit, record bool) error {
	for end != nil && !b.store.Bounded(end.ID) {
		mission := gitstore.ParseSnapshot(end).Mission
		made := Boundary{Mission: mission, Record: record, After: end.ID, Lost: end.FirstParent()}
		if record {
			made.Before = b.recordBefore(end, mission)
		} else {
			made.Before = b.snapshotBefore(gitstore.ParseSnapshot(end))
		}
		if b.leadsTo(made.Before, end.ID) {
			made.Before = gitstore.ID{} // a history that came back to itself would never end
		}
		if err := b.store.Bind(b.ctx, end.ID, made.Before); err != nil {
			return err
		}
		b.made, end = append(b.made, made), nil
		for c, err := range b.store.History(made.Before, shadow.HistoryOptions{}) {
			if err != nil {
				break
			}
			end = c
		}
		if end != nil && end.FirstParent().IsZero() {
			return nil // that is its beginning
		}
	}
	return nil
}

// leadsTo reports whether a commit is in the history of another one, or is that one.
func (b *bounding) leadsTo(from, to gitstore.ID) bool {
	for c, err := range b.store.History(from, shadow.HistoryOptions{}) {
		if err != nil {
			break
		}
		if c.ID == to {
			return true
		}
	}
	return false
}

// snapshotBefore is the newest snapshot that is left of those before a lost one.
func (b *bounding) snapshotBefore(after *gitstore.Snapshot) gitstore.ID {
	later := b.later(gitstore.AgentRef(after.Mission), gitstore.TrashAgentRef(after.Mission))
	earlier := slices.DeleteFunc(slices.Clone(b.snapshots), func(s *gitstore.Snapshot) bool { return later[s.ID] || s.At.After(after.At) })
	newest := Newest(b.store, earlier, after.Record, after.Mission, b.at)
	if newest == nil {
		return gitstore.ID{}
	}
	return newest.ID
}

// Newest is the newest of some snapshots of a mission, nil if none is. A record tells,
// and those before it: records follow each other as snapshots do, a fork's those of
// its source. Where they are lost too the times tell, and within a second what at says.
func Newest(s *shadow.Store, list []*gitstore.Snapshot, record gitstore.ID, mission string, at func(*gitstore.Snapshot) time.Time) *gitstore.Snapshot {
	by, followed := map[gitstore.ID]*gitstore.Snapshot{}, map[gitstore.ID]bool{}
	for _, snap := range list {
		by[snap.Record] = snap
		followed[snap.Parent()] = true
	}
	for r, err := range s.History(record, shadow.HistoryOptions{}) {
		if err != nil {
			break
		}
		if snap := by[r.ID]; snap != nil {
			return snap
		}
	}
	var newest *gitstore.Snapshot
	for _, snap := range by {
		if snap.Mission != mission || followed[snap.ID] {
			continue
		}
		if newest == nil || cmp.Or(snap.At.Compare(newest.At), at(snap).Compare(at(newest))) > 0 {
			newest = snap
		}
	}
	return newest
}

// recordBefore is the newest record that a snapshot has of those before a lost one.
func (b *bounding) recordBefore(after *gitstore.Commit, mission string) gitstore.ID {
	later := b.later(gitstore.RecordRef(mission), gitstore.TrashRecordRef(mission))
	for _, ref := range []gitstore.RefName{gitstore.AgentRef(mission), gitstore.TrashAgentRef(mission)} {
		tip, err := b.store.Ref(ref)
		if err != nil {
			continue
		}
		for s, err := range b.store.Snapshots(tip, shadow.HistoryOptions{}) {
			if err != nil {
				break
			}
			if r, err := b.store.Record(s.Record); err == nil && !later[r.ID] && !r.At.After(after.Committer.When) {
				return r.ID
			}
		}
	}
	return gitstore.ID{}
}

// later is what one of two refs leads to before its history breaks off.
func (b *bounding) later(refs ...gitstore.RefName) map[gitstore.ID]bool {
	list := map[gitstore.ID]bool{}
	for _, ref := range refs {
		tip, err := b.store.Ref(ref)
		if err != nil {
			continue
		}
		for c, err := range b.store.History(tip, shadow.HistoryOptions{}) {
			if err != nil {
				break
			}
			list[c.ID] = true
		}
	}
	return list
}

func isRecord(c *gitstore.Commit) bool { return gitstore.ParseSnapshot(c).Record.IsZero() }

// StoredSnapshots finds the snapshots among all objects, reachable or not, in no
// order. It takes a git, and as long as reading every commit takes.
func StoredSnapshots(ctx context.Context, s *shadow.Store) ([]*gitstore.Snapshot, error) {
	out, err := s.Git(ctx, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")
	if err != nil {
		return nil, err
	}
	var found []*gitstore.Snapshot
	for line := range bytes.Lines(out) {
		name, is := bytes.CutPrefix(bytes.TrimSpace(line), []byte("commit "))
		if !is {
			continue
		}
		id, err := gitstore.ParseID(string(name))
		if err != nil {
			return nil, err
		}
		if snap, err := s.Snapshot(id); err == nil && !snap.Record.IsZero() {
			found = append(found, snap)
		}
	}
	return found, ctx.Err()
}
