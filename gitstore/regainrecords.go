package gitstore

import (
	"context"
	"maps"
	"slices"
)

// RegainRecords adds to the batch the commits of records that can't be read and that
// snapshots name, the oldest first. A commit says little that is not said elsewhere: its author, time
// and message are the snapshot's, its parent is the record before, and of its tree no
// more is lost than that it belongs to it. So the trees that no record has any more
// are tried, of those that have a file named doc, as each record's tree has: only the
// right one gives the commit its id. A commit of which that is lost too stays lost.
// It takes a git, and as long as reading every commit and tree takes. What it returns
// are those that were made again.
func (s *Store) RegainRecords(ctx context.Context, b *Batch, of []*Snapshot, doc string) ([]ID, error) {
	known, err := s.knownRecords(ctx, doc)
	if err != nil {
		return nil, err
	}
	regained := map[ID]*Commit{}
	for _, snap := range of {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if regained[snap.Record] != nil {
			continue
		}
		if c := s.recordCommit(snap, known, regained); c != nil {
			if _, err := b.Commit(c); err != nil {
				return nil, err
			}
			regained[snap.Record] = c
		}
	}
	return slices.Collect(maps.Keys(regained)), nil
}

// knownRecords is what there is to make the commit of a lost record of.
type knownRecords struct {
	trees []ID            // of records, and of none that can be read
	metas map[string][]ID // by mission: records that no snapshot names
	all   map[string][]ID // by mission
}

func (s *Store) knownRecords(ctx context.Context, doc string) (*knownRecords, error) {
	k := &knownRecords{metas: map[string][]ID{}, all: map[string][]ID{}}
	used := map[ID]bool{}
	err := s.eachStored(ctx, func(t ObjectType, id ID) {
		switch t {
		case TypeTree:
			if _, err := s.Lookup(id, doc); err == nil {
				k.trees = append(k.trees, id)
			}
		case TypeCommit:
			r, err := s.Record(id)
			if err != nil {
				return
			}
			used[r.Tree] = true
			k.all[r.Mission] = append(k.all[r.Mission], id)
			if r.Kind == KindMeta {
				k.metas[r.Mission] = append(k.metas[r.Mission], id)
			}
		}
	})
	k.trees = slices.DeleteFunc(k.trees, func(id ID) bool { return used[id] })
	return k, err
}

// recordCommit makes the commit of the record that a snapshot names, nil if it can't.
func (s *Store) recordCommit(snap *Snapshot, known *knownRecords, regained map[ID]*Commit) *Commit {
	text := (&Record{Kind: KindSnapshot, Mission: snap.Mission, Message: snap.Message}).text()
	for _, before := range s.recordsBefore(snap, known) {
		c := &Commit{Author: snap.Author, Committer: snap.Author, Message: text, Parents: before}
		if len(before) > 0 {
			parent := regained[before[0]]
			if parent == nil {
				parent, _ = s.Commit(before[0])
			}
			if parent != nil {
				c.Committer.When = notBefore(c.Committer.When, parent.Committer.When)
			}
		}
		for _, c.Tree = range known.trees {
			if data, err := encodeCommit(c); err == nil && hashFast(TypeCommit, data) == snap.Record {
				return c
			}
		}
	}
	return nil
}

// recordsBefore lists what may be the parents of the record that a snapshot names:
// the record of the snapshot before or one that changed mission data alone since,
// none for a first one, and any of the mission's where the one before can't be read.
func (s *Store) recordsBefore(snap *Snapshot, known *knownRecords) [][]ID {
	list := known.metas[snap.Mission]
	if before := snap.Parent(); !before.IsZero() {
		if s, err := s.Snapshot(before); err == nil {
			list = append([]ID{s.Record}, list...)
		} else {
			list = known.all[snap.Mission]
		}
	}
	parents := [][]ID{nil}
	for _, id := range list {
		parents = append(parents, []ID{id})
	}
	return parents
}
