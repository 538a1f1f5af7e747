package restore

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// alias tells whether what lies at c.Path, of which S knows nothing, is a file
// of S under another spelling that T does not have, on a file system that does
// not tell the two apart. It makes one rename of the two then.
func (p *planner) alias(c *Change, st beneath.Stat) (bool, error) {
	if p.deleted == nil {
		p.deleted = map[string]string{}
		for _, other := range p.changes {
			if other.Action() == Delete {
				p.deleted[folded(other.Path)] = other.Path
			}
		}
	}
	old, ok := p.deleted[folded(c.Path)]
	if !ok {
		return false, nil
	}
	other := p.changes[old]
	if other == nil || other.Action() != Delete {
		return false, nil
	}
	l, err := p.look(old)
	if err != nil || !l.there || l.stat.Identity() != st.Identity() {
		return false, err
	}
	was, is := strings.Split(old, "/"), strings.Split(c.Path, "/")
	if len(was) != len(is) {
		return false, nil
	}
	listed, err := p.listed(was, is)
	if err != nil || listed {
		return false, err
	}
	p.rename(was, is)
	delete(p.changes, old)
	c.From = other.From
	if c.From.holds(c.To) && c.From.Mode == c.To.Mode {
		delete(p.changes, c.Path)
	}
	return true, nil
}

// listed tells two names of one file, hard links, from two spellings of one
// name: both are in the directory's listing.
func (p *planner) listed(was, is []string) (bool, error) {
	for i := range is {
		if was[i] == is[i] {
			continue
		}
		entries, err := p.disk.ReadDir(strings.Join(is[:i], "/"))
		return slices.ContainsFunc(entries, func(e beneath.Entry) bool { return e.Name == is[i] }), err
	}
	return true, nil
}

// rename plans the renames of each name in which the paths differ.
func (p *planner) rename(was, is []string) {
	for i := range is {
		if was[i] == is[i] {
			continue
		}
		// The names above have their new spelling by then.
		r := Rename{From: treepath.Join(strings.Join(is[:i], "/"), was[i]), To: strings.Join(is[:i+1], "/")}
		if !slices.Contains(p.renames, r) {
			p.renames = append(p.renames, r)
		}
	}
}

// folded is equal for names that some file system takes for one.
func folded(path string) string { return strings.ToLower(norm.NFC.String(path)) }
