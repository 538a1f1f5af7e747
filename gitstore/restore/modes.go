package restore

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// modes plans permission bits that differ where nothing else does. What is
// most common in the one snapshot and not in the other makes it look at every
// entry of T; otherwise only paths with unusual bits are looked at.
func (p *planner) modes() error {
	s, t := p.from.Modes, p.to.Modes
	if s == nil || t == nil {
		return nil
	}
	if s.File.Differs(t.File) || s.Executable.Differs(t.Executable) || s.Directory.Differs(t.Directory) {
		return p.objects.WalkTree(p.to.Tree, func(path string, e gitstore.TreeEntry) error {
			if !p.wanted(path) && !p.leadsToWanted(path) {
				return gitstore.SkipTree
			}
			return p.mode(path, e)
		})
	}
	paths := map[string]bool{}
	for path := range s.Unusual {
		paths[path] = true
	}
	for path := range t.Unusual {
		paths[path] = true
	}
	for path := range paths {
		e, err := lookup(p.objects, p.to.Tree, path)
		if err != nil {
			return err
		}
		if e.ID.IsZero() && slices.Contains(t.Empty, path) {
			e.Mode = gitstore.ModeDir
		}
		if err := p.mode(path, e); err != nil {
			return err
		}
	}
	return nil
}

// leadsToWanted tells whether one of the wanted paths is below path.
func (p *planner) leadsToWanted(path string) bool {
	return slices.ContainsFunc(p.paths, func(wanted string) bool { return treepath.Covers(path, wanted) })
}

func (p *planner) mode(path string, e gitstore.TreeEntry) error {
	was, is := p.from.perm(path, e.Mode), p.to.perm(path, e.Mode)
	if !was.Differs(is) || !p.wanted(path) || hostile(path) || e.Mode == gitstore.ModeSymlink {
		return nil
	}
	if _, skipped := p.from.skipped(path); skipped {
		return nil
	}
	if _, planned := p.changes[path]; planned {
		return nil
	}
	if _, kept := p.keep[path]; kept {
		return nil
	}
	if e.Mode.IsDir() {
		l, err := p.look(path)
		if err == nil && l.there && l.stat.Kind() == beneath.Directory {
			from, _ := was.Known()
			to, _ := is.Known()
			p.dirModes = append(p.dirModes, DirMode{Path: path, From: from, To: to})
		}
		return err
	}
	old, err := lookup(p.objects, p.from.Tree, path)
	if err != nil || old.ID != e.ID || old.Mode != e.Mode {
		return err
	}
	if why, ok := p.leave[path]; ok {
		p.leaveOut(path, why)
		return nil
	}
	p.changes[path] = &Change{
		Path: path,
		From: &State{Mode: e.Mode, Blob: e.ID, Perm: was},
		To:   &State{Mode: e.Mode, Blob: e.ID, Perm: is},
	}
	return nil
}
