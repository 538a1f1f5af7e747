package missions

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/journal"
)

// temporaryDirs are the directories in which a process that was killed may have
// left a temporary file (I6): those of the home that are written to beside the
// journal, and those of the agents' conversations.
func (l *Local) temporaryDirs() []string {
	dirs := []string{l.home.Dir, l.home.path("statcache"), l.home.ProjectsDir()}
	projects, _ := l.allProjects()
	for _, p := range projects {
		dirs = append(dirs, p.Dir)
		list, _ := l.missionsOf(p)
		for _, m := range list {
			if m.bind.Session != "" {
				dirs = append(dirs, filepath.Dir(m.bind.Session))
			}
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// sweepTemporaries removes what killed processes left there.
func (l *Local) sweepTemporaries() error {
	var errs []error
	for _, dir := range l.temporaryDirs() {
		_, err := journal.Sweep(dir)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// temporaries reports what killed processes left, and removes it.
func (d *examination) temporaries() error {
	var left []string
	for _, dir := range d.l.temporaryDirs() {
		names, err := journal.Leftovers(dir)
		if err != nil {
			return fmt.Errorf("look for temporary files: %w", err)
		}
		for _, name := range names {
			left = append(left, filepath.Join(dir, name))
		}
	}
	if len(left) > 0 {
		d.found(Problem{
			Invariant: "I6", Message: fmt.Sprintf("%d temporary files of processes that are gone, as %s", len(left), left[0]),
		}, d.l.sweepTemporaries)
	}
	return nil
}
