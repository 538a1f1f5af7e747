// Package projects has projects and missions as they are on disk: it opens, loads,
// saves and locks them. Its Desk is what every room above is built on.
// It takes no snapshot and moves no ref.
package projects

import (
	"context"
	"log/slog"
	"sync"
	"time"

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

// Configuration is the user's configuration as this process has read it.
type Configuration struct {
	Config      settings.Config
	getenv      func(string) string // what overrides it in this process
	ConfigError error               // why it is not what the user's file says
	configStamp home.FileStamp      // of the user's file when it was read
}

// Lifetime ends what a process of Umbra's does, in two steps.
type Lifetime struct {
	Leaving context.Context // ends when the process is about to close
	Depart  context.CancelFunc
	Closing context.Context // ends when it closes
	End     context.CancelFunc
	Workers sync.WaitGroup // those that closing waits for
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
