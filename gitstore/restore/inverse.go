package restore

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// InverseRequest is what is to be taken back.
type InverseRequest struct {
	// Now is the safety snapshot of the present.
	Now Side
	// Of is the plan that was carried out.
	Of *Plan
	// Rules are those of the snapshot that is gone back to, nil if they are not known.
	Rules *documents.Rules
	// Leave are files that are to be left as they are, and why.
	Leave map[string]Reason
	// Stays is that of a Request.
	Stays func(dir string) bool
}

// Inverse plans the taking back of a plan: paths that are still as it left
// them become what they were before; the others are kept with ReasonChanged,
// and those that already are what they were need nothing. The inverse of an
// undo is its redo.
func Inverse(objects Objects, disk Disk, r InverseRequest) (*Plan, error) {
	of := r.Of
	to := Side{Tree: of.From, Rules: r.Rules}
	p := newPlanner(objects, disk, &r.Now, &to, nil, r.Leave)
	p.stays = r.Stays
	made := map[string]bool{}
	for _, d := range of.MakeDirs {
		made[d.Path] = true
	}
	p.isTargetDir = func(path string) (bool, error) { return !made[path], nil }
	for i := range of.Changes {
		if of.Changes[i].Whole {
			continue
		}
		if err := p.invert(&of.Changes[i]); err != nil {
			return nil, err
		}
	}
	d := &databasePlanner{planner: p}
	if err := d.planBack(of); err != nil {
		return nil, err
	}
	for _, m := range of.DirModes {
		if _, skipped := p.from.skipped(m.Path); skipped {
			continue
		}
		l, err := p.look(m.Path)
		if err != nil {
			return nil, err
		}
		if l.there && l.stat.Kind() == beneath.Directory && l.stat.Perm() == m.To {
			p.dirModes = append(p.dirModes, DirMode{Path: m.Path, From: m.To, To: m.From})
		}
	}
	removed := make([]string, len(of.RemoveDirs))
	for i, d := range of.RemoveDirs {
		removed[i] = d.Path
	}
	slices.SortFunc(removed, func(a, b string) int { return depth(a) - depth(b) })
	if err := p.obstructed(); err != nil {
		return nil, err
	}
	if err := p.resolve(p.open(removed)); err != nil {
		return nil, err
	}
	d.settle()
	if err := p.removeMade(of); err != nil {
		return nil, err
	}
	if to.Rules != nil {
		if err := p.revealed(); err != nil {
			return nil, err
		}
	}
	return p.inverted(of), nil
}

// invert plans the inverse of one change.
func (p *planner) invert(c *Change) error {
	was := &Change{Path: c.Path, From: c.To, To: c.From}
	if hostile(c.Path) {
		p.keep[c.Path] = ReasonHostile
		return nil
	}
	now, err := p.present(c.Path)
	if err != nil {
		return err
	}
	switch {
	case same(now, c.To):
	case same(now, c.From):
		return nil
	default:
		p.keep[c.Path] = ReasonChanged
		return nil
	}
	if why, ok := p.leave[c.Path]; ok {
		p.keep[c.Path] = why
		return nil
	}
	if why, closed := p.from.closed(c.Path); closed {
		p.keep[c.Path] = Reason(why)
		return nil
	}
	p.changes[c.Path] = was
	return nil
}

// same tells whether a path is in the state given, permission bits aside but
// for the exec bit.
func same(now, then *State) bool {
	if now == nil || then == nil {
		return now == then
	}
	return now.Blob == then.Blob && now.Mode == then.Mode
}

// present is what is at a path by the safety snapshot or, where that has
// nothing since it is ignored or skipped there, by the disk.
func (p *planner) present(path string) (*State, error) {
	e, err := lookup(p.objects, p.from.Tree, path)
	if err != nil {
		return nil, err
	}
	if e.Mode.IsBlob() {
		return &State{Mode: e.Mode, Blob: e.ID}, nil
	}
	found, err := inspect(p.disk, path)
	if err != nil || found.kind != content {
		return nil, err
	}
	return &found.state, nil
}

// removeMade plans the removal of directories that the plan had made and in
// which nothing is deleted now, such as empty ones.
func (p *planner) removeMade(of *Plan) error {
	for _, d := range of.MakeDirs {
		l, err := p.look(d.Path)
		if err != nil {
			return err
		}
		if _, planned := p.removes[d.Path]; planned || !l.there || l.stat.Kind() != beneath.Directory {
			continue
		}
		if err := p.remove(d.Path); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) inverted(of *Plan) *Plan {
	plan := p.plan()
	// The trees as they would be: what the operation started from is where this
	// one leads, as far as it does.
	plan.To, plan.Relink = of.From, of.Links
	for i := range plan.MakeDirs {
		d := &plan.MakeDirs[i]
		was := directory(of.RemoveDirs, d.Path)
		d.Perm, d.Kept = was.Perm, was.Kept
	}
	for i := range plan.RemoveDirs {
		d := &plan.RemoveDirs[i]
		if _, known := d.Perm.Known(); !known {
			d.Perm = directory(of.MakeDirs, d.Path).Perm
		}
	}
	for i := len(of.Renames) - 1; i >= 0; i-- {
		plan.Renames = append(plan.Renames, of.Renames[i].inverse())
	}
	return plan
}

// directory is the one at a path, with nothing known of it if it is not in the list.
func directory(list []Directory, path string) Directory {
	for _, d := range list {
		if d.Path == path {
			return d
		}
	}
	return Directory{}
}

// inverse undoes a rename after those below it are undone.
func (r Rename) inverse() Rename {
	return Rename{From: r.To, To: treepath.Join(treepath.Parent(r.To), treepath.Base(r.From))}
}
