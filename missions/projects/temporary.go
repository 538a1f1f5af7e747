package projects

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/journal"
)

// TemporaryDirs are the directories in which a process that was killed may have
// left a temporary file (I6): those of the home that are written to beside the
// journal, and those of the agents' conversations.
func (d *Desk) TemporaryDirs() []string {
	dirs := []string{d.Home.Dir, d.Home.Path("statcache"), d.Home.ProjectsDir()}
	projects, _ := d.AllProjects()
	for _, p := range projects {
		dirs = append(dirs, p.Dir)
		list, _ := d.ProjectMissions(p)
		for _, m := range list {
			if m.Binding.SessionPath != "" {
				dirs = append(dirs, filepath.Dir(m.Binding.SessionPath))
			}
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// SweepTemporaries removes what killed processes left there.
func (d *Desk) SweepTemporaries() error {
	var errs []error
	for _, dir := range d.TemporaryDirs() {
		_, err := journal.Sweep(dir)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
