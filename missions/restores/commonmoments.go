package restores

import (
	"iter"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// commonMoment is a moment that two missions have in common since an operation of one of
// them.
type commonMoment struct {
	op       PastOperation
	snapshot *gitstore.Snapshot
	left     []string // the paths that the operation left, or that were put back since
}

// commonMoments are those that a mission has in common with another one by its own
// promotions and merges since the moment that both come from, the newest first. Of a mission
// that is merged into, a path that was restored to before an operation does not count: it is
// to come again. Of one that is merged it does: what it took back is to be taken back.
func commonMoments(m, other *projects.Mission, point gitstore.ID, into bool) iter.Seq2[*commonMoment, error] {
	return func(yield func(*commonMoment, error) bool) {
		known := []gitstore.ID{other.Tip.ID}
		for op, err := range broughtSince(other, point) {
			if err != nil {
				yield(nil, err)
				return
			}
			known = append(known, op.ids...)
		}
		for op, err := range broughtSince(m, point) {
			var at *commonMoment
			if err == nil {
				at, err = op.commonWith(m.Project, known, point)
			}
			if err == nil && at != nil && into {
				at.left = append(at.left, op.back...)
			}
			if err != nil || at != nil {
				if !yield(at, err) || err != nil {
					return
				}
			}
		}
	}
}

// broughtOperation is a promotion or merge, with the moments that it brought.
type broughtOperation struct {
	PastOperation
	ids  []gitstore.ID
	back []string // the paths that were put back since
}

// broughtSince lists the promotions and merges that stand in a history down to a moment. It
// ends where the history is lost.
func broughtSince(m *projects.Mission, point gitstore.ID) iter.Seq2[broughtOperation, error] {
	return func(yield func(broughtOperation, error) bool) {
		var restored []laterRestore
		for op, err := range standingWhile(m, func(s *gitstore.Snapshot) bool { return s.ID != point }) {
			if projects.IsObjectLost(err) {
				return
			}
			if err != nil {
				yield(broughtOperation{}, err)
				return
			}
			if op.Plan == nil && op.Merge == "" {
				continue // files stayed
			}
			one := broughtOperation{PastOperation: op}
			if one.ids, err = op.origins(); err != nil {
				yield(one, missions.Errorf(missions.KindDamaged, "umbra doctor", "operation %s: %w", op.ID, err))
				return
			}
			if op.Kind == string(missions.TriggerRestore) {
				restored = append(restored, laterRestore{one.ids[0], op.Paths})
				continue
			}
			stands := false
			if one.back, stands, err = putBackSince(m.Project, restored, op.Snapshot.ID); err == nil && !stands {
				continue
			}
			if !yield(one, err) || err != nil {
				return
			}
		}
	}
}

// commonWith is the moment that an operation brought of those that another mission has, of
// its own or brought by its own operations; nil if there is none.
func (op *broughtOperation) commonWith(p *projects.Project, known []gitstore.ID, point gitstore.ID) (*commonMoment, error) {
	for _, mine := range op.ids {
		for _, theirs := range known {
			for _, pair := range [][2]gitstore.ID{{mine, theirs}, {theirs, mine}} {
				is, err := isInHistory(p, pair[0], pair[1])
				older := false // than what both come from
				if is && err == nil {
					older, err = isInHistory(p, pair[0], point)
				}
				if err != nil {
					return nil, err
				}
				if !is || older {
					continue
				}
				at := &commonMoment{op: op.PastOperation}
				if at.snapshot, err = p.Store.Snapshot(pair[0]); err != nil {
					return nil, err
				}
				at.left, err = leftByPromotion(p, op.PastOperation, at.snapshot.Tree)
				return at, err
			}
		}
	}
	return nil, nil
}

// isInHistory reports whether a moment is in the history of another one, as far as that is
// still there.
func isInHistory(p *projects.Project, id, tip gitstore.ID) (bool, error) {
	is, err := p.Store.IsAncestor(id, tip)
	if projects.IsObjectLost(err) {
		return false, nil
	}
	return is, err
}

// newerMoment is the one of two moments that has what the operation of the other brought,
// nil if neither has. Either may be missing.
func newerMoment(p *projects.Project, a, b *commonMoment) (*commonMoment, error) {
	switch {
	case b == nil || a != nil && a.snapshot.ID == b.snapshot.ID:
		return a, nil
	case a == nil:
		return b, nil
	}
	if is, err := isInHistory(p, b.op.Snapshot.ID, a.snapshot.ID); is || err != nil {
		return a, err
	}
	if is, err := isInHistory(p, a.op.Snapshot.ID, b.snapshot.ID); is || err != nil {
		return b, err
	}
	if is, err := isInHistory(p, b.snapshot.ID, a.snapshot.ID); is || err != nil {
		return a, err
	}
	is, err := isInHistory(p, a.snapshot.ID, b.snapshot.ID)
	if is {
		return b, err
	}
	return nil, err
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
