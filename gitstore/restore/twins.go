package restore

import (
	"errors"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/attributes"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
)

// errApart is why a file has not all of its names again.
var errApart = errors.New("it is a file of its own now")

// linksOf are the groups of hard links of which a plan changes some.
func linksOf(p *Plan, modes *documents.Modes) (out [][]string) {
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

// twins are the changes that are staged as another name of a file.
type twins map[int]twin

// twin is where that file lies: at a name that stays in the workspace, or else at what is
// staged for the first of them. It is linked only while it is as it was when its content
// was compared; is is nil for what is staged, to which nobody else writes.
type twin struct {
	spot
	is *beneath.Stat
}

func (t twins) has(i int) bool { _, ok := t[i]; return ok }

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
		for len(written) > 0 {
			first := written[0]
			same := func(i int) bool { return r.change(i).To.holds(r.change(first).To) }
			there, err := survivor(r, group, r.change(first).To)
			if err != nil {
				return nil, err
			}
			if there.is == nil {
				there.spot = r.stagedSpot(first)
			}
			for _, i := range written {
				if same(i) && (i != first || there.is != nil) {
					out[i] = there
				}
			}
			written = slices.DeleteFunc(written, same)
		}
	}
	return out, nil
}

// survivor is a name of the file that is not changed, and has its content, owner and
// rights; the zero twin if there is none.
func survivor(r *run, group []string, is *State) (twin, error) {
	for _, path := range group {
		if _, planned := r.Document.Plan.change(path); planned {
			continue
		}
		f, err := inspect(r.Root, path)
		if err != nil {
			return twin{}, err
		}
		if f.kind != content || !f.state.holds(is) || f.stat.Kind() != beneath.File || is.Kept == nil {
			continue
		}
		if now := attributes.OfStat(f.stat); now.SameOwner(is.Kept) && now.Mode == is.Kept.Mode {
			return twin{spot{r.Root, path}, &f.stat}, nil
		}
	}
	return twin{}, nil
}

// link gives a file its other name, and reports false where the system does not allow
// that, or there is none to be given. Somebody may have written to the file meanwhile, or
// put another one in its place: then the new name is taken away again.
func (t twins) link(i int, at spot) (bool, error) {
	there, ok := t[i]
	if !ok || beneath.Link(there.root, there.path, at.root, at.path) != nil {
		return false, nil
	}
	if there.is == nil {
		return true, nil
	}
	now, err := at.root.Lstat(at.path)
	if err != nil {
		return false, err
	}
	now.Links, now.Ctime = there.is.Links, there.is.Ctime // the new name changes both
	if now == *there.is {
		return true, nil
	}
	return false, at.root.Unlink(at.path)
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
			r.noteLost(c.Path, []attributes.Lost{{What: "hard links", Err: errApart}})
		}
	}
	return nil
}
