package restore

import (
	"errors"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/attributes"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
)

// errApart is why a file has not all of its names again.
var errApart = errors.New("it is a file of its own now")

// linksOf are the groups of hard links of which a plan changes some.
func linksOf(p *Plan, modes *capture.Modes) (out [][]string) {
	if modes == nil {
		return nil
	}
	for _, group := range modes.Links {
		if slices.ContainsFunc(group, func(path string) bool {
			c, planned := p.change(path)
			return planned && c.From != nil && c.Action() != Chmod
		}) {
			out = append(out, group)
		}
	}
	return out
}

// twins are the changes that are staged as another name of a file, and where that lies: a
// name that stays in the workspace, or else what is staged for the first of them.
type twins map[int]spot

func (t twins) has(i int) bool { return t[i] != spot{} }

func twinsOf(r *run) (twins, error) {
	out := twins{}
	for _, group := range r.Document.Plan.Relink {
		var written []int
		for _, path := range group {
			i, planned := slices.BinarySearchFunc(r.Document.Plan.Changes, path, byPath)
			if planned && r.change(i).writes() {
				written = append(written, i)
			}
		}
		if len(written) == 0 {
			continue
		}
		there, ok, err := survivor(r, group, r.change(written[0]).To)
		if err != nil {
			return nil, err
		}
		if !ok {
			there, written = r.stagedSpot(written[0]), written[1:]
		}
		for _, i := range written {
			out[i] = there
		}
	}
	return out, nil
}

// survivor is a name of the file that is not changed, and has its content, owner and
// rights.
func survivor(r *run, group []string, is *State) (spot, bool, error) {
	for _, path := range group {
		if _, planned := r.Document.Plan.change(path); planned {
			continue
		}
		f, err := inspect(r.Root, path)
		if err != nil {
			return spot{}, false, err
		}
		if f.kind != content || !f.state.holds(is) || f.stat.Kind() != beneath.File || is.Kept == nil {
			continue
		}
		if now := attributes.OfStat(f.stat); now.SameOwner(is.Kept) && now.Mode == is.Kept.Mode {
			return spot{r.Root, path}, true, nil
		}
	}
	return spot{}, false, nil
}

// link gives a file its other name, and reports false where the system does not allow
// that, or there is none to be given.
func (t twins) link(i int, at spot) bool {
	there, ok := t[i]
	return ok && beneath.Link(there.root, there.path, at.root, at.path) == nil
}

// noteApart notes which files have fewer names than they had.
func noteApart(r *run, list []int) error {
	for _, i := range list {
		c, at := r.change(i), r.stagedSpot(i)
		if c.To.Kept == nil || c.To.Kept.Names == 0 {
			continue
		}
		st, err := at.root.Lstat(at.path)
		if err != nil {
			return err
		}
		if st.Links < c.To.Kept.Names {
			noteLost(r, c.Path, []attributes.Lost{{What: "hard links", Err: errApart}})
		}
	}
	return nil
}
