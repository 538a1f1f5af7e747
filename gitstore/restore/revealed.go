package restore

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
)

// revealed reports the files that are ignored now and will not be when ignore
// files have been put back: they are left as they are, and the next snapshot
// holds them though neither S nor T does (H7).
func (p *planner) revealed() error {
	var dirs []string
	for _, c := range p.sorted() {
		if name := base(c.Path); name == ".gitignore" || name == ".umbraignore" {
			dirs = append(dirs, parent(c.Path))
		}
	}
	slices.Sort(dirs)
	last := ""
	for i, dir := range dirs {
		if i > 0 && below(dir, last) {
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
		path := join(dir, name.Name)
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
	if _, skipped := p.from.skipped(path); skipped {
		return nil
	}
	l, err := p.look(path)
	if err != nil || !l.there {
		return err
	}
	candidate := capture.Candidate{Mode: gitstore.ModeFile, Size: l.stat.Size}
	switch l.stat.Kind() {
	case beneath.Special:
		return nil
	case beneath.Symlink:
		candidate.Mode = gitstore.ModeSymlink
	case beneath.Directory:
		if e.Mode.IsDir() {
			return p.revealedIn(path, e)
		}
		candidate = capture.Candidate{Mode: gitstore.ModeDir}
	}
	eligible, _, err := p.to.Rules.Eligible(path, candidate)
	if err != nil || !eligible {
		return err
	}
	if candidate.Mode.IsDir() {
		return p.revealedIn(path, e)
	}
	p.keep[path] = ReasonRevealed
	return nil
}
