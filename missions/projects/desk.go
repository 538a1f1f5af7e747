// Package projects has projects and missions as they are on disk: it opens, loads,
// saves and locks them. Its Desk is what every room above is built on.
// It takes no snapshot and moves no ref.
package projects

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/sessions"
)

// Desk is what every room works with. Each part of it is one noun, and its methods are
// the Desk's own:
//
//   - Base: Umbra's home, the journal, the clock, the log.
//   - Configuration, AdapterSet: what the user has configured; the agents that Umbra knows.
//   - MissionReader reads the missions of a project, Registry opens the projects of the
//     home, and MissionFinder finds a mission in any of them. Each uses the ones before it.
//   - Locks keep processes and goroutines out of each other's workspaces.
//   - Lifetime ends the work that goes on in the background.
//
// A Desk is safe for concurrent use.
type Desk struct {
	*Base
	Configuration
	AdapterSet
	*MissionReader
	*Registry
	MissionFinder
	Locks
	Lifetime

	Handovers sync.Map // ids of the handovers that goroutines of this process carry out
}

// Options are what a Desk is built from. Clock, Getenv, Space and Logger are set.
type Options struct {
	Home     home.Home
	Config   settings.Config
	Getenv   func(string) string // the variables that have overridden Config
	Broken   error               // why Config is what was last read well, and not what the file says
	Adapters []sessions.Adapter
	Clock    func() time.Time
	Watching missions.Watching
	Index    missions.Index
	Space    *home.Space
	Logger   *slog.Logger
}

// NewDesk opens the home's journal. It reads nothing else yet.
func NewDesk(o Options) (*Desk, error) {
	j, err := journal.Open(o.Home.Dir, o.Clock)
	if err != nil {
		return nil, err
	}
	base := &Base{
		Home: o.Home, Clock: o.Clock, Uptime: lock.Uptime, Logger: o.Logger, Journal: j, Self: lock.Self("umbra"),
		Watching: o.Watching, Index: o.Index, Space: o.Space,
	}
	reader := &MissionReader{base}
	registry := newRegistry(base, reader)
	d := &Desk{
		Base:          base,
		Configuration: newConfiguration(base, o),
		AdapterSet:    AdapterSet{base, o.Adapters},
		MissionReader: reader,
		Registry:      registry,
		MissionFinder: MissionFinder{Base: base, missions: reader, registry: registry, MissionCache: newMissionCache()},
		Locks:         Locks{Base: base, missions: reader, workspaceMutexes: map[home.FileIdentity]*sync.Mutex{}},
	}
	d.Closing, d.End = context.WithCancel(context.Background())
	d.Leaving, d.Depart = context.WithCancel(d.Closing)
	return d, nil
}

// TemporaryDirs are the directories in which a process that was killed may have
// left a temporary file (I6): those of the home that are written to beside the
// journal, and those of the agents' conversations.
func (d *Desk) TemporaryDirs() []string {
	dirs := []string{d.Home.Dir, d.Home.Path("statcache"), d.Home.ProjectsDir()}
	projects, _ := d.AllProjects()
	for _, p := range projects {
		dirs = append(dirs, p.Dir, filepath.Join(p.Dir, MergesDir))
		boxes, _ := filepath.Glob(filepath.Join(p.Dir, UpdatesDir, "*", "*"))
		dirs = append(dirs, boxes...)
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
