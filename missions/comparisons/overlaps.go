package comparisons

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/diff"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Overlaps says where live forks of one mission have changed the same lines, from their
// fork points to their newest snapshots. Trees are compared first, and lines only of the
// paths that several forks have changed.
func (c *Comparer) Overlaps(ctx context.Context, all []*projects.Mission) ([]missions.Overlap, error) {
	siblings, parents := map[string][]*projects.Mission{}, []string{}
	for _, m := range all {
		if m.Parent == nil || !missions.HasAgent(m.Lifecycle) {
			continue
		}
		if siblings[m.Parent.Mission] == nil {
			parents = append(parents, m.Parent.Mission)
		}
		siblings[m.Parent.Mission] = append(siblings[m.Parent.Mission], m)
	}
	list := []missions.Overlap{}
	for _, parent := range parents {
		if len(siblings[parent]) < 2 {
			continue
		}
		r, err := newRadar(ctx, siblings[parent])
		if err != nil {
			return nil, err
		}
		found, err := r.overlaps()
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// radar is the forks of one mission, and what they have changed.
type radar struct {
	ctx   context.Context
	forks []*changedFork
	base  *gitstore.Snapshot // the oldest fork point: lines are numbered as they were then
}

// changedFork is a fork and what it has changed since its fork point.
type changedFork struct {
	mission *projects.Mission
	base    *gitstore.Snapshot
	changes map[string]gitstore.Change
	hunks   map[string][]diff.Hunk // of the paths that were asked for
}

func newRadar(ctx context.Context, forks []*projects.Mission) (*radar, error) {
	r := &radar{ctx: ctx}
	for _, m := range forks {
		base, err := addresses.SnapshotByID(m.Project, m.Parent.Snapshot)
		if err != nil {
			return nil, err
		}
		f := &changedFork{mission: m, base: base, changes: map[string]gitstore.Change{}}
		err = m.Project.Store.DiffTrees(base.Tree, m.Tip.Tree, func(c gitstore.Change) error {
			f.changes[c.Path] = c
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
		if r.forks = append(r.forks, f); r.base == nil || base.At.Before(r.base.At) {
			r.base = base
		}
	}
	return r, nil
}

// overlaps are in the order of their paths.
func (r *radar) overlaps() (list []missions.Overlap, err error) {
	paths := r.commonPaths()
	if len(paths) == 0 {
		return nil, nil
	}
	if err := r.readHunks(paths); err != nil {
		return nil, err
	}
	for _, path := range paths {
		if o := r.overlapIn(path); len(o.Missions) > 0 {
			list = append(list, o)
		}
	}
	return list, nil
}

// commonPaths are those that several forks have changed, and not all to the same.
func (r *radar) commonPaths() (paths []string) {
	first, common := map[string]gitstore.TreeEntry{}, map[string]bool{}
	for _, f := range r.forks {
		for path, c := range f.changes {
			if before, seen := first[path]; !seen {
				first[path] = c.To
			} else if before.ID != c.To.ID {
				common[path] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(common))
}

// maxNamedPaths is how many paths git is given by name: a command line has an end.
const maxNamedPaths = 500

// readHunks reads which lines the forks have changed in these paths, all with one git.
func (r *radar) readHunks(paths []string) error {
	named := paths
	if len(named) > maxNamedPaths {
		named = nil
	}
	differ := Differ(r.ctx, r.forks[0].mission.Project, diff.Patch, named)
	defer differ.Close()
	moved := map[gitstore.ID]map[string][]diff.Hunk{}
	for _, f := range r.forks {
		var err error
		if f.hunks, err = hunksOf(differ, f.base.Tree, f.mission.Tip.Tree); err != nil {
			return err
		}
		if moved[f.base.ID] == nil {
			if moved[f.base.ID], err = hunksOf(differ, r.base.Tree, f.base.Tree); err != nil {
				return err
			}
		}
		for path, earlier := range moved[f.base.ID] {
			for i, h := range f.hunks[path] {
				f.hunks[path][i] = h.Before(earlier)
			}
		}
	}
	return nil
}

func hunksOf(differ *diff.Differ, from, to gitstore.ID) (map[string][]diff.Hunk, error) {
	hunks := map[string][]diff.Hunk{}
	d, err := differ.Trees(from, to)
	if err != nil {
		return nil, err
	}
	for i, patch := range d.Patches() {
		if hunks[d.Files[i].Path], err = diff.Hunks(patch); err != nil {
			return nil, err
		}
	}
	return hunks, nil
}

// overlapIn is where forks have changed the same lines of a file. It names no mission where
// they have not.
func (r *radar) overlapIn(path string) missions.Overlap {
	o := missions.Overlap{Path: path, Lines: []missions.LineRange{}}
	touched, whole := map[int]bool{}, false
	for i, a := range r.forks {
		for k, b := range r.forks[:i] {
			ca, changedA := a.changes[path]
			cb, changedB := b.changes[path]
			if !changedA || !changedB || ca.To.ID == cb.To.ID || ca.To.ID == ca.From.ID || cb.To.ID == cb.From.ID {
				continue // the same content, or another mode alone
			}
			lines := commonLines(a.hunks[path], b.hunks[path])
			if ca.Type() == gitstore.Modified && cb.Type() == gitstore.Modified && len(a.hunks[path]) > 0 && len(b.hunks[path]) > 0 {
				if len(lines) == 0 {
					continue
				}
				o.Lines = append(o.Lines, lines...)
			} else {
				whole = true
			}
			touched[i], touched[k] = true, true
		}
	}
	for i, f := range r.forks {
		if touched[i] {
			o.Missions = append(o.Missions, f.mission.Name)
		}
	}
	if o.Lines = joinLines(o.Lines); whole {
		o.Lines = []missions.LineRange{}
	}
	return o
}

// commonLines are the lines that both changes touch.
func commonLines(a, b []diff.Hunk) (lines []missions.LineRange) {
	for _, x := range a {
		for _, y := range b {
			if x.Touches(y) {
				from := max(x.From, y.From)
				lines = append(lines, missions.LineRange{From: from, To: max(from, min(x.To, y.To)-1)})
			}
		}
	}
	return lines
}

// joinLines puts ranges in their order, and makes one of those between which no line is.
func joinLines(lines []missions.LineRange) []missions.LineRange {
	slices.SortFunc(lines, func(a, b missions.LineRange) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	joined := []missions.LineRange{}
	for _, l := range lines {
		if last := len(joined) - 1; last >= 0 && l.From <= joined[last].To+1 {
			joined[last].To = max(joined[last].To, l.To)
			continue
		}
		joined = append(joined, l)
	}
	return joined
}
