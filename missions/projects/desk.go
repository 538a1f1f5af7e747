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

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/sessions"
)

// Desk is what every room works with: Umbra's home, its journal, the clock, the log,
// the agents' adapters, and the projects that are open. It is safe for concurrent use.
type Desk struct {
	Configuration
	Lifetime

	Home     home.Home
	Adapters []sessions.Adapter
	Clock    func() time.Time
	Uptime   func() time.Duration // of the system
	Logger   *slog.Logger
	Journal  *journal.Journal
	Self     lock.Owner
	Watching missions.Watching // nil: every capture is a stat walk
	Index    missions.Index    // nil: no cache
	Space    *home.Space

	shared

	// FinishCutOff recovers what a killed process left undone in a mission's workspace,
	// and reports whether there was any. The room of restores hands it in.
	FinishCutOff func(ctx context.Context, m *Mission) (found bool, err error)
}

// shared is what the goroutines of a process share: the projects it has open, what it
// remembers of them, and the order in which they use them.
type shared struct {
	mu               sync.Mutex
	MissionCache     *missionCache
	snapshotCache    *snapshotCache
	ProjectStores    map[string]*projectStore // by project directory
	workspaceMutexes map[home.FileIdentity]*sync.Mutex
	Handovers        sync.Map // ids of those that goroutines are at
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
	d := &Desk{
		Configuration: Configuration{Config: o.Config, getenv: o.Getenv, ConfigError: o.Broken, configStamp: home.StampOf(o.Home.ConfigFile())},
		Home:          o.Home, Adapters: o.Adapters, Clock: o.Clock, Uptime: lock.Uptime, Logger: o.Logger, Journal: j, Self: lock.Self("umbra"),
		Watching: o.Watching, Index: o.Index, Space: o.Space,
		shared: shared{
			MissionCache: newMissionCache(), snapshotCache: newSnapshotCache(),
			ProjectStores: map[string]*projectStore{}, workspaceMutexes: map[home.FileIdentity]*sync.Mutex{},
		},
	}
	d.Closing, d.End = context.WithCancel(context.Background())
	d.Leaving, d.Depart = context.WithCancel(d.Closing)
	return d, nil
}

func (d *Desk) NewID() string { return missions.NewRequestID() }

// SaveStatCache writes what a scanner knows into the stat cache of a workspace.
func (d *Desk) SaveStatCache(s *capture.Scanner, place home.FileIdentity, generation uint64) error {
	file := d.Home.StatCacheFile(place)
	return s.Save(generation, func(data []byte) error { return journal.WriteVolatile(d.Home.Dir, file, 0o600, data) })
}

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
