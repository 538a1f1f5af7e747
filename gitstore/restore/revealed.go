package restore

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// revealed reports what is left out now and will not be when ignore files have been put
// back: it is left as it is, and out of the snapshots to come too (H7, H48). Of a
// directory that S holds nothing of it reports no more than the directory.
func (p *planner) revealed() error {
	if err := p.revealedLimits(); err != nil {
		return err
	}
	var dirs []string
	for _, c := range p.sorted() {
		if name := treepath.Base(c.Path); name == ".gitignore" || name == ".umbraignore" {
			dirs = append(dirs, treepath.Parent(c.Path))
		}
	}
	slices.Sort(dirs)
	last := ""
	for i, dir := range dirs {
		if i > 0 && treepath.Covers(last, dir) {
			continue
		}
		last = dir
		e, err := lookup(p.objects, p.from.Tree, dir)
		if err != nil {
			return err
		}
		if err := p.revealedIn(dir, e); err != nil {
			return err
		}
	}
	return nil
}

// projectFile is the workspace's own file of limits, which leaves out secrets and large
// files.
const projectFile = ".umbra.yml"

// revealedLimits is revealed for the limits that the workspace itself sets.
func (p *planner) revealedLimits() error {
	if _, ok := p.changes[projectFile]; !ok || p.from.Skipped == nil {
		return nil
	}
	for _, s := range p.from.Skipped.All() {
		if s.Reason != documents.ReasonSecret && s.Reason != documents.ReasonSize {
			continue
		}
		eligible, _, err := p.to.Rules.Eligible(s.Path, documents.Candidate{Mode: gitstore.ModeFile, Size: s.Size})
		if err != nil {
			return err
		}
		if _, planned := p.changes[s.Path]; eligible && !planned {
			p.keep[s.Path] = ReasonRevealed
		}
	}
	return nil
}

// revealedIn looks through a directory, of which e is what S holds.
func (p *planner) revealedIn(dir string, e gitstore.TreeEntry) error {
	captured, err := p.entries(e)
	if err != nil {
		return err
	}
	list, err := p.disk.ReadDir(dir)
	if err != nil {
		l, again := lookAt(p.disk, dir)
		if dir != "" && again == nil && (!l.there || l.why != "" || l.stat.Kind() != beneath.Directory) {
			return nil
		}
		return err
	}
	for _, name := range list {
		path := treepath.Join(dir, name.Name)
		if err := p.revealedAt(path, captured[name.Name]); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) entries(e gitstore.TreeEntry) (map[string]gitstore.TreeEntry, error) {
	if !e.Mode.IsDir() {
		return nil, nil
	}
	list, err := p.objects.Tree(e.ID)
	if err != nil {
		return nil, err
	}
	out := make(map[string]gitstore.TreeEntry, len(list))
	for _, entry := range list {
		out[entry.Name] = entry
	}
	return out, nil
}

func (p *planner) revealedAt(path string, e gitstore.TreeEntry) error {
	if e.Mode.IsBlob() || hostile(path) {
		return nil
	}
	if _, kept := p.keep[path]; kept {
		return nil
	}
	if c := p.changes[path]; c != nil && c.Whole {
		return nil
	}
	if _, skipped := p.from.skipped(path); skipped {
		return nil
	}
	l, err := p.look(path)
	if err != nil || !l.there {
		return err
	}
	candidate := documents.Candidate{Mode: gitstore.ModeFile, Size: l.stat.Size}
	switch l.stat.Kind() {
	case beneath.Special:
		return nil
	case beneath.Symlink:
		candidate.Mode = gitstore.ModeSymlink
	case beneath.Directory:
		if e.Mode.IsDir() {
			return p.revealedIn(path, e)
		}
		candidate = documents.Candidate{Mode: gitstore.ModeDir}
	}
	eligible, _, err := p.to.Rules.Eligible(path, candidate)
	if err != nil || !eligible {
		return err
	}
	if candidate.Mode.IsDir() && (p.plansBelow(path) || p.knowsEmpty(path)) {
		return p.revealedIn(path, e)
	}
	if candidate.Mode.IsDir() {
		holds, err := p.holdsFiles(path)
		if err != nil || !holds {
			return err
		}
	}
	p.keep[path] = ReasonRevealed
	return nil
}

// knowsEmpty tells whether S has a directory, or one in it, in which nothing is captured.
func (p *planner) knowsEmpty(dir string) bool {
	return slices.ContainsFunc(p.from.empty(), func(empty string) bool { return treepath.Covers(dir, empty) })
}

// plansBelow tells whether anything inside a directory is changed.
func (p *planner) plansBelow(dir string) bool {
	for path := range p.changes {
		if treepath.Covers(dir, path) {
			return true
		}
	}
	return false
}

// holdsFiles tells whether anything but directories is in a directory.
func (p *planner) holdsFiles(dir string) (bool, error) {
	list, err := p.disk.ReadDir(dir)
	if err != nil {
		l, again := lookAt(p.disk, dir)
		if again == nil && (!l.there || l.why != "" || l.stat.Kind() != beneath.Directory) {
			return false, nil
		}
		return false, err
	}
	for _, e := range list {
		path := treepath.Join(dir, e.Name)
		if hostile(path) {
			continue
		}
		l, err := p.look(path)
		if err != nil || l.there && l.stat.Kind() != beneath.Directory {
			return err == nil, err
		}
		if l.there {
			if holds, err := p.holdsFiles(path); holds || err != nil {
				return holds, err
			}
		}
	}
	return false, nil
}
