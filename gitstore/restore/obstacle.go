package restore

import (
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// obstructed leaves out the changes that the system does not permit: a plan that is
// looked at says so, and the other changes are done.
func (p *planner) obstructed() error {
	for _, c := range p.sorted() {
		why, err := p.obstacle(c)
		if err != nil {
			return err
		}
		if why != "" {
			p.leaveOut(c.Path, why)
		}
	}
	var modes []DirMode
	for _, m := range p.dirModes {
		why, err := p.disk.ObstacleToChmod(m.Path)
		if err != nil && !absent(err) {
			return err
		}
		if why == "" {
			modes = append(modes, m)
		} else {
			p.keep[m.Path] = Reason(why)
		}
	}
	p.dirModes = modes
	return nil
}

// obstacle is what stands in the way of one change.
func (p *planner) obstacle(c *Change) (Reason, error) {
	if c.Action() != Chmod {
		return p.obstacleAt(c.Path)
	}
	why, err := p.disk.ObstacleToChmod(c.Path)
	if err != nil && absent(err) {
		err = nil
	}
	return Reason(why), err
}

// obstacleAt is what stands in the way of making or removing the name at a path. Of a
// path in a directory that is missing, it is what stands in the way of the directory.
func (p *planner) obstacleAt(path string) (Reason, error) {
	for at := path; at != ""; at = treepath.Parent(at) {
		l, err := p.look(at)
		if err != nil || l.why != "" {
			return "", err
		}
		if l.there && at != path && l.stat.Kind() == beneath.Directory {
			break
		}
		path = at
		if l.there {
			break
		}
	}
	why, err := p.disk.ObstacleToRename(path)
	if err != nil && absent(err) {
		err = nil
	}
	return Reason(why), err
}

// leaveObstructed leaves a path that the system did not let this process change, so
// that the others are done all the same. It reports whether that was the reason.
func leaveObstructed(r *run, i int, cause error) bool {
	why := beneath.ObstacleOf(cause)
	if why == "" {
		return false
	}
	if seen := obstacleTo(r, i); seen != "" {
		why = seen
	}
	r.setLeft(i, Reason(why))
	return true
}

// obstacleTo is what stands in the way of a change by now, "" if nothing is seen.
func obstacleTo(r *run, i int) beneath.Obstacle {
	look := r.Root.ObstacleToRename
	if r.change(i).Action() == Chmod {
		look = r.Root.ObstacleToChmod
	}
	why, err := look(r.change(i).Path)
	if err != nil {
		return ""
	}
	return why
}

// noteObstacle notes what the system did not permit of a directory, and returns every
// other error.
func noteObstacle(r *run, path, what string, cause error) error {
	if beneath.ObstacleOf(cause) == "" {
		return cause
	}
	r.note(Note{path, what, cause})
	return nil
}
