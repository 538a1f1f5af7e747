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
)

// Cut marks histories as pruned: for each commit of cuts the one before it goes, and the
// history goes on at the one that it is given, zero if none is left. A boundary of a
// commit that does not stay goes with it. Nothing is deleted, and ids stay what they are.
//
// It may be killed at any instant. What is before a cut is kept by a ref first; then it is
// noted that it is no loss; then all boundaries change in one step. The caller holds the
// project's lock, exclusive.
func Cut(ctx context.Context, s *Store, cuts map[gitstore.ID]gitstore.ID, stays func(gitstore.ID) bool, at time.Time) error {
	old, err := s.ReadBoundary()
	if err != nil {
		return err
	}
	for _, after := range slices.SortedFunc(maps.Keys(cuts), gitstore.ID.Compare) {
		if err := keepBefore(ctx, s, after, cuts[after]); err != nil {
			return err
		}
	}
	next := maps.Clone(old)
	maps.DeleteFunc(next, func(id gitstore.ID, _ gap) bool { return !stays(id) })
	for after, before := range cuts {
		next[after] = gap{before, at}
	}
	// Until all boundaries have changed the old ones are needed, too.
	both := maps.Clone(old)
	maps.Copy(both, next)
	if err := writePruned(ctx, s, both); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.dir, owedFile), nil, 0o600); err != nil {
		return err
	}
	if err := s.writeBoundary(ctx, func(b boundary) { clear(b); maps.Copy(b, next) }); err != nil {
		return err
	}
	if err := writePruned(ctx, s, next); err != nil {
		return err
	}
	return dropBefore(ctx, s, next)
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

// keepBefore has a ref lead to what is left before a cut.
func keepBefore(ctx context.Context, s *Store, after, before gitstore.ID) error {
	ref := gitstore.BeforeRef(after)
	have, err := s.Ref(ref)
	if err != nil && !errors.Is(err, gitstore.ErrRefNotFound) {
		return err
	}
	switch {
	case have == before:
		return nil
	case before.IsZero():
		return nil // dropBefore takes the ref away once nothing goes by it
	}
	return s.UpdateRef(ctx, ref, have, before, gitstore.Durable)
}

// dropBefore takes away the refs that keep what is before boundaries that are none any
// more, or that nothing is left before.
func dropBefore(ctx context.Context, s *Store, b boundary) error {
	refs, err := s.Refs(gitstore.RefBefore)
	if err != nil {
		return err
	}
	for _, ref := range refs.Refs {
		after, err := gitstore.ParseID(ref.Name.Arg())
		if err != nil {
			return err
		}
		if b[after].before == ref.ID {
			continue
		}
		if err := s.DeleteRef(ctx, ref.Name, ref.ID); err != nil {
			return err
		}
	}
	_, err = s.ReadBoundary()
	return err
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
