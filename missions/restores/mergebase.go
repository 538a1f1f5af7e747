package restores

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/merge"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// mergeBase is what a mission and its fork have in common, path by path: the files of
// their newest common moment. The paths that the promotion of that moment left, or that a
// later restore put back to before it, are of the moment before, and so on.
type mergeBase struct {
	project  *projects.Project
	snapshot *gitstore.Snapshot // the newest moment that both have in common
	tree     *records.Tree
	modes    *documents.Modes
	left     []string // the paths that are still to come from an older moment
}

// findMergeBase looks for the base in the promotions and merges of both that stand, the
// newest first, and in the fork point at last. One counts until files are restored to a
// moment that has nothing of it; where only some paths were, it counts for all others.
func findMergeBase(ctx context.Context, m, fork *projects.Mission, point string) (*mergeBase, error) {
	pointID, err := gitstore.ParseID(point)
	if err != nil {
		return nil, err
	}
	base := &mergeBase{project: m.Project}
	mine, stopMine := iter.Pull2(commonMoments(m, fork, pointID, true))
	defer stopMine()
	theirs, stopTheirs := iter.Pull2(commonMoments(fork, m, pointID, false))
	defer stopTheirs()
	a, err, _ := mine()
	b, failed, _ := theirs()
	for err = errors.Join(err, failed); err == nil && !base.isWhole() && (a != nil || b != nil); {
		var first *commonMoment
		if first, err = newerMoment(m.Project, a, b); err != nil {
			break
		}
		switch first {
		case nil:
			if err = base.addCrossed(ctx, point, a, b); err == nil {
				a, err, _ = mine()
				b, failed, _ = theirs()
				err = errors.Join(err, failed)
			}
		case a:
			if err = base.addMoment(a.snapshot, a.left); err == nil {
				a, err, _ = mine()
			}
		default:
			if err = base.addMoment(b.snapshot, b.left); err == nil {
				b, err, _ = theirs()
			}
		}
	}
	if err != nil || base.isWhole() {
		return base, err
	}
	forked, err := addresses.SnapshotByID(m.Project, point)
	if err != nil {
		return nil, err
	}
	return base, base.addMoment(forked, nil)
}

// isWhole reports whether each path has its moment.
func (b *mergeBase) isWhole() bool { return b.snapshot != nil && len(b.left) == 0 }

// addCrossed adds two moments of which neither has what the other brought: what both came to
// by a merge. Where they conflict it has what is on no side, so that the user is asked.
func (b *mergeBase) addCrossed(ctx context.Context, point string, mine, theirs *commonMoment) error {
	store := b.project.Store
	forked, err := addresses.SnapshotByID(b.project, point)
	if err != nil {
		return err
	}
	got, err := merge.Attempt(ctx, store, merge.Sides{Base: forked.Tree, Ours: mine.snapshot.Tree, Theirs: theirs.snapshot.Tree}, merge.Driver{})
	if err != nil {
		return err
	}
	tree, batch := records.NewTree(store, got.Tree), store.NewBatch()
	defer batch.Discard()
	for _, c := range got.Conflicts {
		id, err := batch.Blob(fmt.Appendf(nil, "%s in %s or in %s\n", c.Path, mine.snapshot.ID, theirs.snapshot.ID))
		if err == nil {
			err = tree.PutEntry(c.Path, gitstore.ModeFile, id)
		}
		if err != nil {
			return err
		}
	}
	both := *mine.snapshot
	if both.Tree, err = tree.Write(batch); err != nil {
		return err
	}
	if err := batch.Flush(ctx); err != nil {
		return err
	}
	return b.addMoment(&both, slices.Concat(mine.left, theirs.left))
}

// addMoment gives the paths that have no moment yet the files of an older one, but for
// those that it left too.
func (b *mergeBase) addMoment(s *gitstore.Snapshot, left []string) error {
	side, err := snapshots.RecordedSide(b.project, s)
	if err != nil {
		return err
	}
	if b.snapshot == nil {
		b.snapshot, b.tree, b.modes, b.left = s, records.NewTree(b.project.Store, s.Tree), side.Modes, left
		return nil
	}
	for _, path := range b.left {
		e, err := entryAt(b.project.Store, s.Tree, path)
		switch {
		case err != nil:
		case e.ID.IsZero():
			err = b.tree.Remove(path)
		default:
			err = b.tree.PutEntry(path, e.Mode, e.ID)
		}
		if err != nil {
			return err
		}
		b.modes = modesWithin(path, b.modes, side.Modes)
	}
	b.left = pathsOfBoth(b.left, left)
	return nil
}

// writeTree stores the tree of the base.
func (b *mergeBase) writeTree(ctx context.Context) (gitstore.ID, error) {
	batch := b.project.Store.NewBatch()
	defer batch.Discard()
	tree, err := b.tree.Write(batch)
	return tree, errors.Join(err, batch.Flush(ctx))
}

// modesWithin are the newer modes, with the older ones of a path and of all below it.
func modesWithin(path string, newer, older *documents.Modes) *documents.Modes {
	out := *newer
	out.Unusual, out.Empty = map[string]uint32{}, nil
	for _, m := range []*documents.Modes{newer, older} {
		isFrom := func(at string) bool { return home.IsWithin(path, at) == (m == older) }
		for at, perm := range m.Unusual {
			if isFrom(at) {
				out.Unusual[at] = perm
			}
		}
		for _, dir := range m.Empty {
			if isFrom(dir) {
				out.Empty = append(out.Empty, dir)
			}
		}
	}
	slices.Sort(out.Empty)
	return &out
}

// pathsOfBoth are the paths of each list that are in the other, or below one that is.
func pathsOfBoth(a, b []string) (both []string) {
	for _, x := range a {
		for _, y := range b {
			switch {
			case home.IsWithin(y, x):
				both = append(both, x)
			case home.IsWithin(x, y):
				both = append(both, y)
			}
		}
	}
	slices.Sort(both)
	return slices.Compact(both)
}

// leftByPromotion are the paths that a promotion left as they were and that differ from
// the fork's tree. A path that no snapshot holds, such as a secret, differs from none.
func leftByPromotion(p *projects.Project, op PastOperation, theirs gitstore.ID) (left []string, err error) {
	for _, kept := range op.Kept {
		mine, err := entryAt(p.Store, op.Snapshot.Tree, kept.Path)
		if err != nil {
			return nil, err
		}
		their, err := entryAt(p.Store, theirs, kept.Path)
		if err != nil {
			return nil, err
		}
		if mine != their {
			left = append(left, kept.Path)
		}
	}
	return left, nil
}

// entryAt is a tree's entry at a path, or the zero entry.
func entryAt(s *shadow.Store, tree gitstore.ID, path string) (gitstore.TreeEntry, error) {
	e, err := s.Lookup(tree, path)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return gitstore.TreeEntry{}, nil
	}
	return e, err
}
