package restore

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// resolve holds the changes against the disk: what lies where something is to
// be written, which names must be freed first, and which directories come and
// go. Empty are directories that are to be there though nothing is in them.
func (p *planner) resolve(empty []string) error {
	if err := p.occupied(); err != nil {
		return err
	}
	if err := p.blocked(); err != nil {
		return err
	}
	for _, dir := range empty {
		if err := p.makeEmpty(dir); err != nil {
			return err
		}
	}
	for _, c := range p.sorted() {
		if c.Action() != Delete {
			continue
		}
		if err := p.removeAbove(treepath.Parent(c.Path)); err != nil {
			return err
		}
	}
	return nil
}

// occupied judges the paths at which nothing is in S, but something on disk.
func (p *planner) occupied() error {
	for _, c := range p.sorted() {
		if c.From != nil {
			continue
		}
		l, err := p.look(c.Path)
		if err != nil {
			return err
		}
		switch {
		case l.why != "":
			p.leaveOut(c.Path, l.why)
		case !l.there, isNothing(c, l.stat.Kind(), l.stat.Size):
		case c.Whole && (c.To == nil || l.stat.Kind() != beneath.Directory):
			p.leaveOut(c.Path, p.uncaptured(c))
		case l.stat.Kind() == beneath.Directory:
			if err := p.clear(c); err != nil {
				return err
			}
		default:
			alias, err := p.alias(c, l.stat)
			if err != nil {
				return err
			}
			if !alias {
				p.leaveOut(c.Path, p.uncaptured(c))
			}
		}
	}
	return nil
}

// uncaptured is why something on disk is not in S.
func (p *planner) uncaptured(c *Change) Reason {
	if why, ok := p.from.skipped(c.Path); ok {
		return Reason(why)
	}
	return ReasonIgnored
}

// clear plans the removal of the directory that lies where c wants a file, if
// nothing in it is kept; else all of it is.
func (p *planner) clear(c *Change) error {
	var dirs []string
	ok, err := p.removable(c.Path, &dirs)
	if err != nil {
		return err
	}
	inside := func(path string) bool { return path != c.Path && treepath.Covers(c.Path, path) }
	for path, other := range p.changes {
		switch {
		case !inside(path):
		case ok:
			other.Frees = true
		default:
			p.leaveOut(path, ReasonOccupied)
		}
	}
	if !ok {
		p.leaveOut(c.Path, ReasonOccupied)
		return nil
	}
	for _, dir := range dirs {
		p.removes[dir] = true
	}
	return nil
}

// removable tells whether nothing would be left in a directory, and lists it
// with those below it.
func (p *planner) removable(dir string, dirs *[]string) (bool, error) {
	if why, err := p.staysAs(dir); why != "" || err != nil {
		return false, err
	}
	entries, err := p.disk.ReadDir(dir)
	if err != nil {
		l, again := lookAt(p.disk, dir)
		if again == nil && (!l.there || l.why != "") {
			return false, nil
		}
		return false, err
	}
	if len(entries) == 0 && !slices.Contains(p.from.empty(), dir) {
		return false, nil
	}
	for _, e := range entries {
		path := treepath.Join(dir, e.Name)
		if c, ok := p.changes[path]; ok && c.Action() == Delete {
			continue
		}
		if hostile(path) {
			return false, nil
		}
		l, err := p.look(path)
		if err != nil || !l.there || l.stat.Kind() != beneath.Directory {
			return false, err
		}
		if ok, err := p.removable(path, dirs); err != nil || !ok {
			return false, err
		}
	}
	*dirs = append(*dirs, dir)
	return true, nil
}

// blocked keeps what lies below a file that stays, and plans the directories
// that are missing.
func (p *planner) blocked() error {
	for _, c := range p.sorted() {
		if !c.writes() {
			continue
		}
		ok, err := p.reach(treepath.Parent(c.Path), true)
		if err != nil {
			return err
		}
		if !ok {
			p.leaveOut(c.Path, ReasonBlocked)
		}
	}
	return nil
}

// reach tells whether dir is, or can be made, a directory. If it is to be used,
// what is missing is planned and what is in the way freed.
func (p *planner) reach(dir string, use bool) (bool, error) {
	if dir == "" || p.makes[dir] {
		return true, nil
	}
	if ok, err := p.reach(treepath.Parent(dir), false); !ok || err != nil {
		return ok, err
	}
	l, err := p.look(dir)
	if err != nil || l.why != "" {
		return false, err
	}
	if l.there && l.stat.Kind() == beneath.Directory {
		// A directory that makes room for a file cannot take another one.
		frees := p.removes[dir]
		return !frees, nil
	}
	if l.there {
		c, ok := p.changes[dir]
		if !ok || c.Action() != Delete {
			return false, nil
		}
		if use {
			c.Frees = true
		}
	} else if c, ok := p.changes[dir]; ok && c.To != nil {
		return false, nil
	}
	if use {
		if _, err := p.reach(treepath.Parent(dir), true); err != nil {
			return false, err
		}
		p.makes[dir] = true
	}
	return true, nil
}

// makeEmpty plans a directory of T in which nothing is captured.
func (p *planner) makeEmpty(dir string) error {
	if !p.wanted(dir) || hostile(dir) {
		return nil
	}
	l, err := p.look(dir)
	if err != nil || l.there && l.stat.Kind() == beneath.Directory && !p.removes[dir] {
		return err
	}
	if why, err := p.obstacleAt(dir); why != "" || err != nil {
		p.keep[dir] = why
		return err
	}
	ok, err := p.reach(dir, true)
	if err == nil && !ok {
		p.keep[dir] = ReasonBlocked
	}
	return err
}

// removeAbove plans the removal of the directories above a deleted path that T
// does not have.
func (p *planner) removeAbove(dir string) error {
	for ; dir != ""; dir = treepath.Parent(dir) {
		if _, planned := p.removes[dir]; planned {
			continue
		}
		is, err := p.isTargetDir(dir)
		if err != nil || is {
			return err
		}
		if err := p.remove(dir); err != nil {
			return err
		}
	}
	return nil
}

// remove plans the removal of a directory, or keeps it.
func (p *planner) remove(dir string) error {
	why, err := p.staysAs(dir)
	switch {
	case err != nil:
		return err
	case why != "":
		p.keep[dir] = why
	default:
		p.removes[dir] = false
	}
	return nil
}

// staysAs is why a directory is not removed, "" if it can be.
func (p *planner) staysAs(dir string) (Reason, error) {
	if p.stays != nil && p.stays(dir) {
		return ReasonWorkspace, nil
	}
	return p.obstacleAt(dir)
}
