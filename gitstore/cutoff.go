package gitstore

import (
	"context"
	"errors"
	"strings"
)

// SnapshotsOf finds a mission's snapshots among all objects, reachable or not,
// in no order. It takes a git, and as long as reading every commit takes.
func (s *Store) SnapshotsOf(ctx context.Context, missions ...string) ([]*Snapshot, error) {
	of := map[string]bool{}
	for _, mission := range missions {
		of[mission] = true
	}
	var found []*Snapshot
	err := s.eachStored(ctx, func(t ObjectType, id ID) {
		if t != TypeCommit {
			return
		}
		if snap, err := s.Snapshot(id); err == nil && of[snap.Mission] {
			found = append(found, snap)
		}
	})
	return found, err
}

// eachStored calls fn for every object, reachable or not, in no order. It takes a git.
func (s *Store) eachStored(ctx context.Context, fn func(ObjectType, ID)) error {
	out, err := s.Git(ctx, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\n"), "\n") {
		kind, name, _ := strings.Cut(line, " ")
		t, ok := parseType(kind)
		if !ok {
			continue
		}
		id, err := ParseID(name)
		if err != nil {
			return err
		}
		fn(t, id)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// CutOff is a run of whole snapshots that no ref leads to, since a commit after
// them is lost.
type CutOff struct {
	// Newest leads to all of them.
	Newest *Snapshot
	Count  int
}

// CutOff finds the snapshots of missions whose history breaks off at a commit
// that can't be read, which neither refs nor roots lead to.
func (s *Store) CutOff(ctx context.Context, roots ...ID) ([]CutOff, error) {
	broken, err := s.brokenHistories()
	if err != nil || len(broken) == 0 {
		return nil, err
	}
	snaps, err := s.SnapshotsOf(ctx, broken...)
	if err != nil {
		return nil, err
	}
	r, err := s.reach(ctx, roots)
	if err != nil {
		return nil, err
	}
	apart, followed := map[ID]*Snapshot{}, map[ID]bool{}
	for _, snap := range snaps {
		if r.seen[snap.ID] == 0 {
			apart[snap.ID] = snap
			followed[snap.Parent()] = true
		}
	}
	var found []CutOff
	for id, snap := range apart {
		if followed[id] {
			continue
		}
		run := CutOff{Newest: snap}
		for ; snap != nil; snap = apart[snap.Parent()] {
			run.Count++
		}
		found = append(found, run)
	}
	return found, nil
}

// brokenHistories names the missions whose snapshots the refs don't all lead to,
// since one between them can't be read.
func (s *Store) brokenHistories() ([]string, error) {
	list, err := s.Refs("")
	if err != nil {
		return nil, err
	}
	var broken []string
	for _, ref := range list.Refs {
		if kind := ref.Name.Kind(); kind != RefAgent && kind != RefPin {
			continue
		}
		missions := map[string]bool{}
		if mission := ref.Name.Mission(); mission != "" {
			missions[mission] = true
		}
		for snap, err := range s.Snapshots(ref.ID, HistoryOptions{}) {
			if object := (*ObjectError)(nil); errors.As(err, &object) {
				for mission := range missions {
					broken = append(broken, mission)
				}
			}
			if err == nil {
				missions[snap.Mission] = true
			}
		}
	}
	return broken, nil
}
