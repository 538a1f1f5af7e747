// Package local puts the rooms together: its Service is missions.Service in the process
// that calls it. It has no rules of its own.
package local

import (
	"context"
	"log/slog"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/authorship"
	"github.com/umbra-vcs/umbra/missions/comparisons"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/doctor"
	"github.com/umbra-vcs/umbra/missions/events"
	"github.com/umbra-vcs/umbra/missions/forks"
	"github.com/umbra-vcs/umbra/missions/handovers"
	"github.com/umbra-vcs/umbra/missions/history"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/hooks"
	"github.com/umbra-vcs/umbra/missions/imports"
	"github.com/umbra-vcs/umbra/missions/landings"
	"github.com/umbra-vcs/umbra/missions/merges"
	"github.com/umbra-vcs/umbra/missions/moves"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/promotes"
	"github.com/umbra-vcs/umbra/missions/prunes"
	"github.com/umbra-vcs/umbra/missions/remotes"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/retires"
	"github.com/umbra-vcs/umbra/missions/searches"
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/missions/sideforks"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/trash"
	"github.com/umbra-vcs/umbra/missions/updates"
	"github.com/umbra-vcs/umbra/missions/worktrees"
	"github.com/umbra-vcs/umbra/sessions"
)

// Service is all rooms on one desk. Any number of processes may have one on the same
// home: what they share is on disk, under the kernel's locks. It is safe for concurrent
// use.
type Service struct {
	*projects.Desk
	*addresses.Finder
	*conversations.Library
	*snapshots.Taker
	*presence.Observer
	*agents.Launcher
	*restores.Restorer
	*handovers.Scheduler
	*moves.Mover
	*trash.Bin
	forkRooms
	*events.Listener
	*hooks.Installer
	pastRooms
	*doctor.Examiner
}

// forkRooms make forks, compare them and bring them home.
type forkRooms struct {
	*forks.Forker
	*promotes.Promoter
	*comparisons.Comparer
	*updates.Courier
	*sideforks.Exchanger
	*landings.Lander
	*merges.Merger
	*worktrees.Steward
}

// pastRooms tell what there is, and how it came about, take in what was before, or
// elsewhere, and drop what is old.
type pastRooms struct {
	*history.Reader
	*authorship.Blamer
	*searches.Searcher
	*imports.Importer
	*remotes.Carrier
	*prunes.Pruner
	*trash.Emptier
	*retires.Retirer
}

// looker says what work a mission has, and what has changed since.
type looker struct {
	*landings.Lander
	*history.Reader
}

var _ missions.Service = (*Service)(nil)

// Options are what a Service is built from.
type Options struct {
	Home     home.Home
	Config   settings.Config
	Getenv   func(string) string // the variables that have overridden Config; nil: none
	Broken   error               // why Config is what was last read well, and not what the file says; nil if it is
	Adapters []sessions.Adapter
	Clock    func() time.Time  // nil: the system's
	Watching missions.Watching // nil: every capture is a stat walk
	Index    missions.Index    // nil: no cache
	Space    *home.Space       // nil: the system's
	Log      *slog.Logger      // nil: silent
	// Automate starts one of the user's commands in a process of its own, from any
	// goroutine; nil: none is run.
	Automate func(agents.Automation) error
}

// New opens the Service on a home. It reads nothing else yet.
func New(o Options) (*Service, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Space == nil {
		o.Space = home.NewSpace(o.Home, o.Config.Storage, nil)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d, err := projects.NewDesk(projects.Options{
		Home: o.Home, Config: o.Config, Getenv: o.Getenv, Broken: o.Broken, Adapters: o.Adapters, Clock: o.Clock,
		Watching: o.Watching, Index: o.Index, Space: o.Space, Logger: o.Log,
	})
	if err != nil {
		return nil, err
	}
	s := &Service{Desk: d, Finder: addresses.New(d), Library: conversations.New(d), Installer: hooks.New(d)}
	s.Courier = updates.New(d, s.Finder, s.Library)
	s.Taker = snapshots.New(d, s.Finder, s.Library)
	s.Observer = presence.New(d, s.Library, s.Taker, s.Courier)
	s.Launcher = agents.New(d, s.Finder, s.Library, s.Taker, s.Observer, s.Courier)
	s.Restorer = restores.New(d, s.Library, s.Taker, s.Observer, s.Courier)
	s.Scheduler = handovers.New(d, s.Finder, s.Library, s.Taker, s.Observer, s.Launcher, s.Restorer)
	s.Mover = moves.New(d, s.Taker, s.Observer, s.Launcher)
	s.Bin = trash.New(d, s.Finder, s.Library, s.Taker, s.Observer, s.Launcher, s.Restorer)
	s.Forker = forks.New(d, s.Finder, s.Library, s.Taker, s.Observer, s.Launcher, s.Bin, s.Courier)
	s.Promoter = promotes.New(d, s.Finder, s.Taker, s.Observer, s.Scheduler)
	s.Exchanger = sideforks.New(d, sideforks.Rooms{
		Addresses: s.Finder, Snapshots: s.Taker, Presence: s.Observer, Restores: s.Restorer, Handovers: s.Scheduler,
		Forks: s.Forker, Promotes: s.Promoter, Agents: s.Launcher, Updates: s.Courier,
	})
	s.Lander = landings.New(d, s.Finder, s.Observer)
	s.Merger = merges.New(d, merges.Rooms{
		Addresses: s.Finder, Snapshots: s.Taker, Presence: s.Observer, Handovers: s.Scheduler,
		Promotes: s.Promoter, Forks: s.Forker, Updates: s.Courier,
	})
	s.Comparer = comparisons.New(d, s.Finder, s.Observer)
	s.Steward = worktrees.New(d, s.Finder, s.Taker, s.Forker, s.Bin, s.Launcher)
	s.Listener = events.New(d, s.Finder, s.Library, s.Taker, s.Observer, s.Launcher, s.Scheduler, s.Mover, s.Courier, s.Steward)
	s.Reader = history.New(d, s.Finder, s.Library, s.Taker, s.Observer, s.Launcher, s.Installer, s.Comparer)
	s.Importer = imports.New(d, s.Launcher, s.Taker)
	s.Carrier = remotes.New(d, s.Finder)
	s.Reader.Expiring, s.Reader.DailyImport, s.Reader.Pushes = s.Importer.Expiring, s.Importer.DailyImport, s.Carrier.Pushes
	s.Blamer = authorship.New(d, s.Finder, s.Taker)
	s.Searcher = searches.New(d, s.Finder, s.Library)
	s.Pruner, s.Emptier = prunes.New(d, s.Finder, s.Observer), trash.NewEmptier(s.Bin)
	s.Reader.Prunable, s.Reader.Prunings, s.Reader.TrashExpiry = s.Pruner.Prunable, s.Pruner.Prunings, s.Emptier.TrashExpiry
	s.Retirer = retires.New(d, s.Observer, s.Bin, looker{s.Lander, s.Reader})
	s.Reader.ForkExpiry, s.Reader.Tightening = s.Retirer.ForkExpiry, s.Pruner.Tightening
	s.Examiner = doctor.New(d, doctor.Rooms{
		Conversations: s.Library, Snapshots: s.Taker, Presence: s.Observer, Agents: s.Launcher,
		Restores: s.Restorer, Handovers: s.Scheduler, Forks: s.Forker, Hooks: s.Installer, Remotes: s.Carrier, Prunes: s.Pruner,
		Imports: s.Importer, Bin: s.Bin, Emptier: s.Emptier, Retirer: s.Retirer, Searches: s.Searcher,
	})
	// What runs up: lower rooms are handed what upper ones do.
	d.FinishCutOff, d.Rebind = s.Restorer.RecoverUnfinishedRestores, s.Mover.Rebind
	s.Taker.Effects = snapshots.Effects{Settle: s.Restorer.SettleRestores, Perform: s.performPending, Automate: s.Launcher.StartAutomations, Housekeep: s.StartHousekeeping}
	s.Scheduler.PrepareTerminal, s.Promoter.LeaveSideFork = s.Exchanger.Prepare, s.Exchanger.LeaveByPromotion
	s.Scheduler.TakeBack = s.Exchanger.TakeBack
	s.Launcher.StartAutomation, s.Launcher.Recreate, s.Launcher.Relieve = o.Automate, s.Exchanger.Recreate, s.Exchanger.Relieve
	s.Launcher.Attend = s.Exchanger.Attend
	return s, nil
}

// performPending does what waited for the end of a turn, or of the agent.
func (s *Service) performPending(ctx context.Context, m *projects.Mission) {
	s.Scheduler.PerformPendingAction(ctx, m)
	s.Steward.CloseLeft(m)
}

// Leave says that Close is about to be called: what a call waits for that only
// whoever serves next can do is waited for no longer.
func (s *Service) Leave() { s.Depart() }

// Close ends what is being carried out, writes caches and closes the projects.
// Requests that were not answered stay in the journal: the next process that
// serves the home makes up for them.
func (s *Service) Close() error {
	s.EndWorkers()
	s.SaveWorkspaces()
	return s.CloseProjects()
}
