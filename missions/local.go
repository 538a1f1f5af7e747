package missions

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/sessions"
)

// Local is the Service in the process that calls it. Any number of processes
// may have one on the same home: what they share is on disk, under the kernel's
// locks. It is safe for concurrent use.
type Local struct {
	home       Home
	config     settings.Config
	getenv     func(string) string // what overrides it in this process
	broken     error               // why it is not what the user's file says
	configured fileStamp           // of the user\'s file when it was read
	adapters   []sessions.Adapter
	clock      func() time.Time
	syncForks  func([]*fork.Made) (waited int, err error) // fork.Sync, but for tests

	startAutomation func(Automation) error // nil: none is run
	effects         effects
	// finish recovers what a killed process left undone in a mission's workspace, and
	// reports whether there was any.
	finish func(ctx context.Context, m *loaded) (found bool, err error)
	// restored makes a lost workspace again that a launch asks for.
	restored func(ctx context.Context, m *loaded, r LaunchRequest) (*loaded, error)
	// relieved answers a keeper whose agent was ended by a handover with what to launch.
	relieved func(ctx context.Context, m *loaded, r KeepRequest) (next Next, relieved bool, err error)

	restoreStep func(name string) error // restore.Work.Step, for tests
	watching    Watching
	index       Index
	space       *Space
	snapshots   *snapshots
	log         *slog.Logger
	journal     *journal.Journal
	self        lock.Owner

	closing context.Context // ends with Close
	close   context.CancelFunc
	leaving context.Context // ends with Leave
	leave   context.CancelFunc
	working sync.WaitGroup // workers of queues

	known       *remembered
	nobodys     *nobodys
	counters    *counters
	looks       *looks
	newest      *newest
	mostCounted int64         // but for tests
	gitPatience time.Duration // usergit.Patience, but for tests
	mu          sync.Mutex
	stores      map[string]*openStore // by project directory
	queues      map[string]*queue
	owed        map[string]*owing    // by mission
	gathered    sync.Once            // what earlier processes owed
	adoptions   map[string]*adoption // by sessionKey
	workspaces  map[Place]*workspace
	handing     sync.Map // ids of the handovers that goroutines are at
	walks       walks
	uptime      func() time.Duration  // of the system
	order       map[Place]*sync.Mutex // of what is cached of a workspace
}

var _ Service = (*Local)(nil)

// Options are what a Local is built from.
type Options struct {
	Home     Home
	Config   settings.Config
	Getenv   func(string) string // the variables that have overridden Config; nil: none
	Broken   error               // why Config is what was last read well, and not what the file says; nil if it is
	Adapters []sessions.Adapter
	Clock    func() time.Time // nil: the system's
	Watching Watching         // nil: every capture is a stat walk
	Index    Index            // nil: no cache
	Space    *Space           // nil: the system's
	Log      *slog.Logger     // nil: silent
	// Automate starts one of the user's commands in a process of its own, from any
	// goroutine; nil: none is run.
	Automate func(Automation) error
}

// Watching is what a process that watches workspaces knows of them. The daemon
// gives one; without it every capture walks. Methods are called on the
// goroutine of the operation that needs them.
type Watching interface {
	// Rules tells of the ignore rules by which a workspace is watched, if it is
	// or will be. ignored is asked for directories, by path relative to root,
	// from any goroutine. After other rules the next Take is Full.
	Rules(root string, ignored func(rel string) bool)
	// Take passes the barrier and hands over what changed since the last Take.
	// If the barrier can't be had, the answer is Full with the reason.
	Take(ctx context.Context, root string) Dirty
	// Return gives back what a failed capture took.
	Return(root string, d Dirty)
	// Follow calls changed soon after each change of a file, from any goroutine,
	// until stop is called; stop is nil where that can't be had.
	Follow(path string, changed func()) (stop func())
	// Changed tells those who wait that a mission changed.
	Changed(mission string)
}

// Dirty is what may have changed in a workspace since it was last asked.
type Dirty struct {
	Full  bool     // anything may have: walk it all
	Why   string   // the reason for Full
	Lost  bool     // Full, since events were lost
	Paths []string // relative, slash-separated
	Trees []string // directories to be walked whole
}

// NewLocal opens the Service on a home. It reads nothing else yet.
func NewLocal(o Options) (*Local, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Space == nil {
		o.Space = NewSpace(o.Home, o.Config.Storage, nil)
	}
	j, err := journal.Open(o.Home.Dir, o.Clock)
	if err != nil {
		return nil, err
	}
	l := &Local{
		home: o.Home, config: o.Config, getenv: o.Getenv, broken: o.Broken, adapters: o.Adapters, clock: o.Clock, syncForks: fork.Sync,
		watching: o.Watching, index: o.Index, space: o.Space, log: o.Log, journal: j, self: lock.Self("umbra"),
		known: newRemembered(), nobodys: newNobodys(), counters: newCounters(), looks: newLooks(), newest: newNewest(), mostCounted: mostCounted, gitPatience: usergit.Patience, snapshots: newSnapshots(), stores: map[string]*openStore{}, queues: map[string]*queue{}, owed: map[string]*owing{}, adoptions: map[string]*adoption{}, workspaces: map[Place]*workspace{},
		walks: newWalks(), order: map[Place]*sync.Mutex{},
	}
	l.uptime = lock.Uptime
	l.effects = effects{settle: l.settleAll, perform: l.performPending, automate: l.automate}
	l.finish, l.restored, l.relieved = l.finishCutOff, l.recreate, l.relieve
	l.startAutomation, l.configured = o.Automate, stampOf(o.Home.ConfigFile())
	l.closing, l.close = context.WithCancel(context.Background())
	l.leaving, l.leave = context.WithCancel(l.closing)
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	return l, nil
}

// Leave says that Close is about to be called: what a call waits for that only
// whoever serves next can do is waited for no longer.
func (l *Local) Leave() { l.leave() }

// Close ends what is being carried out, writes caches and closes the projects.
// Requests that were not answered stay in the journal: the next process that
// serves the home makes up for them.
func (l *Local) Close() error {
	l.endWorkers()
	l.saveWorkspaces()
	return l.closeProjects()
}

// endWorkers ends what is being carried out; none begins any more.
func (l *Local) endWorkers() {
	l.mu.Lock()
	l.close()
	l.mu.Unlock()
	l.working.Wait()
}

// saveWorkspaces writes what is cached of workspaces.
func (l *Local) saveWorkspaces() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ws := range l.workspaces {
		ws.save()
	}
}

// closeProjects closes the repositories that are open.
func (l *Local) closeProjects() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for dir, open := range l.stores {
		errs = append(errs, open.close())
		delete(l.stores, dir)
	}
	return errors.Join(errs...)
}

// errClosing answers requests that come, or are met, by the end of the Service.
var errClosing = Errorf(KindInterrupted, "", "umbra is ending")

// startWorker counts a worker in, unless the Service is ending.
func (l *Local) startWorker() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing.Err() != nil {
		return false
	}
	l.working.Add(1)
	return true
}

func (l *Local) now() time.Time { return l.clock() }

func (l *Local) newID() string { return NewRequestID() }

// newSession makes the id of a conversation that an agent is to go on in.
func (l *Local) newSession(a sessions.Adapter) string { return a.NewID(l.newID(), l.now()) }

// adoptedID is the id of the mission for a session started by hand: the same
// from whichever hook asks, so that two at once make one mission. The id of a
// mission that was removed is not used again, but for that of back if it is given:
// then it is the id as it will be when that mission is back.
func (l *Local) adoptedID(all []*project, agent, session, back string) string {
	for n := 0; ; n++ {
		name := "umbra:" + l.home.Machine + ":" + agent + ":" + session
		if n > 0 {
			name += ":" + itoa(n)
		}
		id := NamedID(name)
		removed := slices.ContainsFunc(all, func(p *project) bool {
			_, err := p.store.Ref(gitstore.TrashAgentRef(id))
			return !errors.Is(err, gitstore.ErrRefNotFound)
		})
		if !removed || id == back {
			return id
		}
	}
}

// adapter returns the agent's adapter, or nil for any other command.
func (l *Local) adapter(agent string) sessions.Adapter {
	for _, a := range l.adapters {
		if a.Name() == agent {
			return a
		}
	}
	return l.foreign(agent)
}

// agentOf names the agent that a command line starts: an adapter's name, or
// the program's own.
func (l *Local) agentOf(argv []string) string {
	for _, a := range l.adapters {
		if a.Runs(argv) {
			return a.Name()
		}
	}
	return filepath.Base(argv[0])
}
