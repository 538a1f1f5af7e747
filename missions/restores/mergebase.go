package restores

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
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
	modes    *capture.Modes
	left     []string // the paths that are still to come from an older moment
}

// findMergeBase looks for the base in the promotions and merges that stand of either mission
// into the other, the newest first, and in the point at which they parted at last. A
// promotion or merge counts until files are restored to a moment that has nothing of it;
// where only some paths were, it counts for all others.
func findMergeBase(m, fork *projects.Mission, point string) (*mergeBase, error) {
	base := &mergeBase{project: m.Project}
	for c, err := range newestFirst(commonMoments(m, fork), commonMoments(fork, m)) {
		if err == nil {
			err = base.addPromotion(c)
		}
		if err != nil || base.isWhole() {
			return base, err
		}
	}
	forked, err := addresses.SnapshotByID(m.Project, point)
	if err != nil {
		return nil, err
	}
	return base, base.addMoment(forked, nil)
}

// commonMoment is a moment of one mission that a promotion or merge brought into another.
type commonMoment struct {
	op   PastOperation
	at   *gitstore.Snapshot
	back []string // the paths that were put back since
}

// commonMoments are those that a mission has of another one's history, the newest first.
func commonMoments(m, of *projects.Mission) iter.Seq2[commonMoment, error] {
	return func(yield func(commonMoment, error) bool) {
		var restored []laterRestore
		for op, err := range standingOperations(m) {
			if projects.IsObjectLost(err) {
				return
			}
			if err == nil && op.Plan == nil && op.Merge == "" {
				continue // files stayed
			}
			var ids []gitstore.ID
			if err == nil {
				if ids, err = op.origins(); err != nil {
					err = missions.Errorf(missions.KindDamaged, "umbra doctor", "operation %s: %w", op.ID, err)
				}
			}
			if err == nil && op.Kind == string(missions.TriggerRestore) {
				restored = append(restored, laterRestore{ids[0], op.Paths})
				continue
			}
			c := commonMoment{op: op}
			var at projects.NumberedSnapshot
			ok := false
			if err == nil {
				at, ok, err = findOneInHistory(of, ids)
				c.at = at.Snapshot
			}
			if ok && err == nil {
				c.back, ok, err = putBackSince(m.Project, restored, op.Snapshot.ID)
			}
			if (ok || err != nil) && !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// newestFirst is what both have, in the order of their operations.
func newestFirst(a, b iter.Seq2[commonMoment, error]) iter.Seq2[commonMoment, error] {
	return func(yield func(commonMoment, error) bool) {
		nextA, stopA := iter.Pull2(a)
		defer stopA()
		nextB, stopB := iter.Pull2(b)
		defer stopB()
		x, errX, okX := nextA()
		y, errY, okY := nextB()
		for okX || okY {
			first := okX && (!okY || errX != nil || errY == nil && !x.op.Snapshot.At.Before(y.op.Snapshot.At))
			switch {
			case first && !yield(x, errX), !first && !yield(y, errY):
				return
			case first:
				x, errX, okX = nextA()
			default:
				y, errY, okY = nextB()
			}
		}
	}
}

// origins are the snapshots that the state of an operation comes from.
func (op PastOperation) origins() (ids []gitstore.ID, err error) {
	texts := op.Merged
	if op.Kind != string(missions.TriggerMerge) {
		texts = []string{op.Target}
	}
	for _, text := range texts {
		id, err := gitstore.ParseID(text)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// findOneInHistory finds the one of some snapshots that is in a mission's history.
func findOneInHistory(m *projects.Mission, ids []gitstore.ID) (at projects.NumberedSnapshot, ok bool, err error) {
	for _, id := range ids {
		if at, ok, err = m.Project.FindInHistory(m.Tip.ID, id); ok || err != nil {
			break
		}
	}
	return at, ok, err
}

// isWhole reports whether each path has its moment.
func (b *mergeBase) isWhole() bool { return b.snapshot != nil && len(b.left) == 0 }

// addPromotion adds the moment that a promotion or merge brought, but for paths that were put
// back since.
func (b *mergeBase) addPromotion(c commonMoment) error {
	left, err := leftByPromotion(b.project, c.op, c.at.Tree)
	if err != nil {
		return err
	}
	return b.addMoment(c.at, slices.Concat(left, c.back))
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
func modesWithin(path string, newer, older *capture.Modes) *capture.Modes {
	out := *newer
	out.Unusual, out.Empty = map[string]uint32{}, nil
	for _, m := range []*capture.Modes{newer, older} {
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

// laterRestore is a restore of files that came after a promotion.
type laterRestore struct {
	target gitstore.ID
	paths  []gitstore.Text // empty for all
}

// putBackSince lists the paths that later restores put back to moments that have nothing of
// a promotion. It reports false where one of them put all files back.
func putBackSince(p *projects.Project, later []laterRestore, promotion gitstore.ID) (back []string, stands bool, err error) {
	for _, r := range later {
		_, ok, err := p.FindInHistory(r.target, promotion)
		switch lost := projects.IsObjectLost(err); {
		case err != nil && !lost:
			return nil, false, err
		case ok && !lost:
			continue
		}
		// Where the history is lost, what came with that restore can't be known.
		if len(r.paths) == 0 {
			return nil, false, nil
		}
		for _, path := range r.paths {
			back = append(back, string(path))
		}
	}
	return back, true, nil
}
