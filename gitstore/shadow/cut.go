package shadow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

// Cutting says where histories are cut, and what stays.
type Cutting struct {
	// Before says for each commit that stays though the one before it goes where its history
	// goes on; zero if nothing is left.
	Before map[gitstore.ID]gitstore.ID
	// Stays reports whether a commit stays. A boundary of one that does not goes with it.
	Stays func(gitstore.ID) bool
	// Kept are the records that need a ref of their own, and no others do.
	Kept map[gitstore.ID]bool
	At   time.Time
}

// Cut marks histories as pruned. Nothing is deleted, and ids stay what they are.
//
// It may be killed at any instant. First it is noted that something is to be given back, since
// a ref that moves may let go of commits already. Then refs keep what is before a cut; then it
// is noted that it is no loss; then all boundaries are made in one step; then refs and boundaries
// go that nothing needs any more. It waits for the disk a few times, however many cuts there
// are. The caller holds the project's lock, exclusive.
func Cut(ctx context.Context, s *Store, c Cutting) error {
	old, err := s.ReadBoundary()
	if err != nil {
		return err
	}
	if err := s.Rewrite(ctx, owedFile, func() ([]byte, error) { return nil, nil }); err != nil {
		return err
	}
	failpoint.Hit("cut.owed")
	drop, err := keepCutOff(ctx, s, c, old)
	if err != nil {
		return err
	}
	failpoint.Hit("cut.kept")
	next := maps.Clone(old)
	maps.DeleteFunc(next, func(id gitstore.ID, _ gap) bool { return !c.Stays(id) })
	for after, before := range c.Before {
		next[after] = gap{before, c.At}
	}
	// Until the refs are gone that nothing needs any more they lead to old boundaries, and to
	// nothing beyond them.
	both := maps.Clone(old)
	maps.Copy(both, next)
	if err := writePruned(ctx, s, both); err != nil {
		return err
	}
	failpoint.Hit("cut.explained")
	bound := func(to boundary) error { return s.writeBoundary(ctx, func(b boundary) { clear(b); maps.Copy(b, to) }) }
	if err := bound(both); err != nil {
		return err
	}
	failpoint.Hit("cut.cut")
	if err := dropRefs(ctx, s, next, drop); err != nil {
		return err
	}
	failpoint.Hit("cut.dropped")
	forgets := len(both) > len(next)
	if forgets {
		if err := bound(next); err != nil {
			return err
		}
	}
	failpoint.Hit("cut.forgotten")
	if !forgets { // nobody waits for what is there already
		return nil
	}
	return writePruned(ctx, s, next)
}

// owedFile is an empty file that is there while what was cut off may not have been given
// back.
const owedFile = "umbra/owed"

// Owes reports whether what was cut off may still take room.
func Owes(s *Store) bool { return IsThere(filepath.Join(s.dir, owedFile)) }

// GaveBack says that nothing of it does.
func GaveBack(s *Store) error {
	err := os.Remove(filepath.Join(s.dir, owedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// LastPruned is when snapshots were pruned last, zero if none were or nothing is left that
// came after them.
func LastPruned(s *Store) (last time.Time, err error) {
	b, err := s.ReadBoundary()
	for _, g := range b {
		if g.prunedAt.After(last) {
			last = g.prunedAt
		}
	}
	return last, err
}

// keepCutOff has refs lead to what is left before cuts, and to records that no other ref
// leads to. Drop are the refs of records that need none any more.
func keepCutOff(ctx context.Context, s *Store, c Cutting, old boundary) (drop map[gitstore.RefName]gitstore.ID, err error) {
	set := map[gitstore.RefName]gitstore.ID{}
	for after, before := range c.Before {
		if !before.IsZero() && old[after].before != before {
			set[gitstore.BeforeRef(after)] = before
		}
	}
	refs, err := s.Refs(gitstore.RefKeep)
	if err != nil {
		return nil, err
	}
	if len(refs.Bad) > 0 {
		return nil, &refs.Bad[0]
	}
	have := map[gitstore.ID]bool{}
	drop = map[gitstore.RefName]gitstore.ID{}
	for _, ref := range refs.Refs {
		if !IsOwnKeep(ref) {
			continue
		}
		if have[ref.ID] = true; !c.Kept[ref.ID] {
			drop[ref.Name] = gitstore.ID{}
		}
	}
	for id := range c.Kept {
		if !have[id] {
			set[gitstore.KeepRef(id)] = id
		}
	}
	return drop, s.changePacked(ctx, set)
}

// IsOwnKeep reports whether a ref keeps a record for pruning. The others are of pins.
func IsOwnKeep(ref gitstore.Ref) bool {
	return ref.Name.Kind() == gitstore.RefKeep && ref.Name == gitstore.KeepRef(ref.ID)
}

// dropRefs takes away the refs that keep what is before boundaries that are none any more,
// or that nothing is left before, and some others.
func dropRefs(ctx context.Context, s *Store, b boundary, drop map[gitstore.RefName]gitstore.ID) error {
	refs, err := s.Refs(gitstore.RefBefore)
	if err != nil {
		return err
	}
	for _, ref := range refs.Refs {
		after, err := gitstore.ParseID(ref.Name.Arg())
		if err != nil {
			return err
		}
		if b[after].before != ref.ID {
			drop[ref.Name] = gitstore.ID{}
		}
	}
	return s.changePacked(ctx, drop)
}

// writePruned notes which boundaries pruning has made.
func writePruned(ctx context.Context, s *Store, b boundary) error {
	var text bytes.Buffer
	for _, id := range slices.SortedFunc(maps.Keys(b), gitstore.ID.Compare) {
		if at := b[id].prunedAt; !at.IsZero() {
			fmt.Fprintln(&text, id, at.Unix())
		}
	}
	return s.Rewrite(ctx, prunedFile, func() ([]byte, error) { return text.Bytes(), nil })
}
