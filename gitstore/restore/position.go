package restore

import "slices"

// position is where a planned path is on its way.
type position uint8

const (
	atSource position = iota
	atTarget
	elsewhere // neither: somebody has been at it
)

// where finds a path's position. A path from which the old file was moved aside
// and into which the new one was not yet put is at its source.
func (r *run) where(i int) (position, error) {
	c := r.change(i)
	f, err := inspect(r.Root, c.Path)
	if err != nil {
		return elsewhere, err
	}
	switch f.kind {
	case nothing:
		return r.whereNothing(i)
	case folder:
		if c.From == nil && slices.ContainsFunc(r.Document.Plan.RemoveDirs, func(d Directory) bool { return d.Path == c.Path }) {
			return atSource, nil
		}
		if c.To == nil && slices.ContainsFunc(r.Document.Plan.MakeDirs, func(d Directory) bool { return d.Path == c.Path }) {
			return atTarget, nil
		}
	case content:
		switch {
		case isNothing(c, f.stat.Kind(), f.stat.Size) && !f.state.holds(c.To):
			return atSource, nil
		case renews(c) && f.state.holds(c.To) && !r.hasDisplaced(i):
			return atSource, nil
		case c.Action() == Chmod && f.state.holds(c.To):
			if f.state.Mode == c.To.Mode && !f.state.Perm.Differs(c.To.Perm) {
				return atTarget, nil
			}
			return atSource, nil
		case f.state.holds(c.To):
			return atTarget, nil
		case f.state.holds(c.From):
			return atSource, nil
		}
	}
	return elsewhere, nil
}

func (r *run) whereNothing(i int) (position, error) {
	c := r.change(i)
	if c.To == nil {
		return atTarget, nil
	}
	if c.From == nil {
		return atSource, nil
	}
	_, ok, err := r.original(i)
	if err != nil || !ok && !r.lost {
		return elsewhere, err
	}
	return atSource, nil
}

// find is a spot of the change that holds a content.
func (q *quarantine) find(i int, state *State) (spot, bool, error) {
	for _, s := range q.slotsOf(i) {
		f, err := inspect(s.root, s.path)
		if err != nil {
			return spot{}, false, err
		}
		if f.kind == content && f.state.holds(state) {
			return s, true, nil
		}
	}
	return spot{}, false, nil
}

// original is the spot of what was at the path before the operation: of
// several the one that was taken away last.
func (q *quarantine) original(i int) (spot, bool, error) {
	to := q.change(i).To
	if renews(q.change(i)) {
		return formerOf(q, i)
	}
	// What lies under the staged name and is not what was staged was exchanged
	// a moment before the process was killed.
	for _, s := range slices.Backward(q.slotsOf(i)) {
		f, err := inspect(s.root, s.path)
		if err != nil {
			return spot{}, false, err
		}
		if f.kind != nothing && (f.kind != content || to == nil || !f.state.holds(to)) {
			return s, true, nil
		}
	}
	return spot{}, false, nil
}

// slotsOf lists the spots of a change, the staged one last.
func (q *quarantine) slotsOf(i int) []spot {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]spot, 0, len(q.slots[i])+1)
	for _, s := range q.slots[i] {
		if !q.isStaged(i, s) {
			out = append(out, s)
		}
	}
	if q.staged != nil || len(q.Document.Beside) > 0 {
		if at := q.stagedSpot(i); at.root != nil {
			out = append(out, at)
		}
	}
	return out
}
