package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// shallowFile is Git's own list of commits whose parents are not there
// (gitrepository-layout(5)), so that every Git client ends a history there too.
const shallowFile = "shallow"

// boundary says where histories break off: for each commit whose parent is lost, the
// newest commit that is left of those before the lost one, zero if none is.
type boundary map[ID]ID

// readBoundary reads the boundary anew: another process may have changed it.
func (s *Store) readBoundary() (boundary, error) {
	data, err := disk.ReadFile(filepath.Join(s.dir, shallowFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	b := boundary{}
	for line := range bytes.Lines(data) {
		id, err := ParseID(string(bytes.TrimSpace(line)))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", shallowFile, err)
		}
		if b[id], err = s.Ref(BeforeRef(id)); err != nil && !errors.Is(err, ErrRefNotFound) {
			return nil, err
		}
	}
	s.bounds.Store(&b)
	return b, nil
}

// Reread takes note of boundaries that another process has made, as each walk over a
// history does.
func (s *Store) Reread() error {
	_, err := s.readBoundary()
	return err
}

// Bounded reports whether history breaks off at a commit.
func (s *Store) Bounded(id ID) bool {
	b := s.bounds.Load()
	if b == nil {
		return false
	}
	_, is := (*b)[id]
	return is
}

// Commit reads a commit. Where its parent is lost, Lost names that one, and Parents
// is the newest commit that is left of those before it.
func (s *Store) Commit(id ID) (*Commit, error) {
	c, err := s.Objects.Commit(id)
	if err != nil {
		return nil, err
	}
	b := s.bounds.Load()
	if b == nil {
		read, err := s.readBoundary()
		if err != nil {
			return nil, err
		}
		b = &read
	}
	if before, cut := (*b)[id]; cut {
		c.Lost, c.Parents = c.FirstParent(), nil
		if !before.IsZero() {
			c.Parents = []ID{before}
		}
	}
	return c, nil
}

// Boundary is a commit at which a history breaks off.
type Boundary struct {
	// Mission is whose snapshots or, if Record is set, records they are.
	Mission string
	Record  bool
	// After is the oldest commit after the lost one, Lost the lost one, and Before
	// the newest that is left of those before it, zero if none is.
	After, Lost, Before ID
}

// Bound makes a boundary wherever a commit is lost in the middle of a history that
// refs or roots lead to: what is whole before it stays a part of that history. A
// boundary whose lost commit is there again is taken away. At is what Newest asks. It
// takes a git.
func (s *Store) Bound(ctx context.Context, at func(*Snapshot) time.Time, roots ...ID) ([]Boundary, error) {
	if err := s.regained(ctx); err != nil {
		return nil, err
	}
	r, err := s.reach(ctx, roots)
	if err != nil {
		return nil, err
	}
	ends := map[bool][]*Commit{} // by whether they are records
	for id, kind := range r.seen {
		if kind != TypeCommit || r.unread[id] != nil {
			continue
		}
		c, err := s.Commit(id)
		if err == nil && errors.Is(r.unread[c.FirstParent()], ErrMissing) {
			ends[isRecord(c)] = append(ends[isRecord(c)], c)
		}
	}
	if len(ends) == 0 {
		return nil, nil
	}
	b := &bounding{ctx: ctx, store: s, at: at}
	if b.snapshots, err = s.StoredSnapshots(ctx); err != nil {
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
	store     *Store
	snapshots []*Snapshot // all that are stored
	at        func(*Snapshot) time.Time
	made      []Boundary
}

// from makes a boundary of a commit, and of the next one in what is left before it.
func (b *bounding) from(end *Commit, record bool) error {
	for end != nil && !b.store.Bounded(end.ID) {
		mission := ParseSnapshot(end).Mission
		made := Boundary{Mission: mission, Record: record, After: end.ID, Lost: end.FirstParent()}
		if record {
			made.Before = b.recordBefore(end, mission)
		} else {
			made.Before = b.snapshotBefore(ParseSnapshot(end))
		}
		if err := b.store.bind(b.ctx, end.ID, made.Before); err != nil {
			return err
		}
		b.made, end = append(b.made, made), nil
		for c, err := range b.store.History(made.Before, HistoryOptions{}) {
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

// snapshotBefore is the newest snapshot that is left of those before a lost one.
func (b *bounding) snapshotBefore(after *Snapshot) ID {
	later := b.later(AgentRef(after.Mission), TrashAgentRef(after.Mission))
	earlier := slices.DeleteFunc(slices.Clone(b.snapshots), func(s *Snapshot) bool { return later[s.ID] || s.At.After(after.At) })
	newest := b.store.Newest(earlier, after.Record, after.Mission, b.at)
	if newest == nil {
		return ID{}
	}
	return newest.ID
}

// Newest is the newest of some snapshots of a mission, nil if none is. A record tells,
// and those before it: records follow each other as snapshots do, a fork's those of
// its source. Where they are lost too the times tell, and within a second what at says.
func (s *Store) Newest(list []*Snapshot, record ID, mission string, at func(*Snapshot) time.Time) *Snapshot {
	by, followed := map[ID]*Snapshot{}, map[ID]bool{}
	for _, snap := range list {
		by[snap.Record] = snap
		followed[snap.Parent()] = true
	}
	for r, err := range s.History(record, HistoryOptions{}) {
		if err != nil {
			break
		}
		if snap := by[r.ID]; snap != nil {
			return snap
		}
	}
	var newest *Snapshot
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
func (b *bounding) recordBefore(after *Commit, mission string) ID {
	later := b.later(RecordRef(mission), TrashRecordRef(mission))
	for _, ref := range []RefName{AgentRef(mission), TrashAgentRef(mission)} {
		tip, err := b.store.Ref(ref)
		if err != nil {
			continue
		}
		for s, err := range b.store.Snapshots(tip, HistoryOptions{}) {
			if err != nil {
				break
			}
			if r, err := b.store.Record(s.Record); err == nil && !later[r.ID] && !r.At.After(after.Committer.When) {
				return r.ID
			}
		}
	}
	return ID{}
}

// later is what one of two refs leads to before its history breaks off.
func (b *bounding) later(refs ...RefName) map[ID]bool {
	list := map[ID]bool{}
	for _, ref := range refs {
		tip, err := b.store.Ref(ref)
		if err != nil {
			continue
		}
		for c, err := range b.store.History(tip, HistoryOptions{}) {
			if err != nil {
				break
			}
			list[c.ID] = true
		}
	}
	return list
}

func isRecord(c *Commit) bool { return ParseSnapshot(c).Record.IsZero() }

// bind makes a boundary: what keeps the commits before it first.
func (s *Store) bind(ctx context.Context, after, before ID) error {
	if !before.IsZero() {
		if err := s.UpdateRef(ctx, BeforeRef(after), ID{}, before, Durable); err != nil && !errors.Is(err, ErrRefMoved) {
			return err
		}
	}
	return s.writeBoundary(ctx, func(b boundary) { b[after] = before })
}

// regained takes boundaries away whose lost commits are there again.
func (s *Store) regained(ctx context.Context) error {
	b, err := s.readBoundary()
	if err != nil || len(b) == 0 {
		return err
	}
	back := map[ID]ID{}
	for after, before := range b {
		c, err := s.Objects.Commit(after)
		if err != nil {
			continue
		}
		if _, err := s.Objects.Commit(c.FirstParent()); err == nil {
			back[after] = before
		}
	}
	if len(back) == 0 {
		return nil
	}
	if err := s.writeBoundary(ctx, func(b boundary) { maps.DeleteFunc(b, func(id, _ ID) bool { _, is := back[id]; return is }) }); err != nil {
		return err
	}
	for after, before := range back {
		if before.IsZero() {
			continue
		}
		if err := s.DeleteRef(ctx, BeforeRef(after), before); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) writeBoundary(ctx context.Context, change func(boundary)) error {
	err := s.rewrite(ctx, shallowFile, func() ([]byte, error) {
		b, err := s.readBoundary()
		if err != nil {
			return nil, err
		}
		change(b)
		return idLines(b), nil
	})
	if err != nil {
		return err
	}
	_, err = s.readBoundary()
	return err
}

// idLines lists ids, one a line.
func idLines[V any](ids map[ID]V) []byte {
	var text bytes.Buffer
	for _, id := range slices.SortedFunc(maps.Keys(ids), ID.Compare) {
		fmt.Fprintln(&text, id)
	}
	return text.Bytes()
}

// StoredSnapshots finds the snapshots among all objects, reachable or not, in no
// order. It takes a git, and as long as reading every commit takes.
func (s *Store) StoredSnapshots(ctx context.Context) ([]*Snapshot, error) {
	out, err := s.Git(ctx, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")
	if err != nil {
		return nil, err
	}
	var found []*Snapshot
	for line := range bytes.Lines(out) {
		name, is := bytes.CutPrefix(bytes.TrimSpace(line), []byte("commit "))
		if !is {
			continue
		}
		id, err := ParseID(string(name))
		if err != nil {
			return nil, err
		}
		if snap, err := s.Snapshot(id); err == nil && !snap.Record.IsZero() {
			found = append(found, snap)
		}
	}
	return found, ctx.Err()
}
