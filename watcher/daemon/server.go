package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/local"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/watcher/api"
)

// Server serves one home. The daemon is one, and so is a command that stays,
// such as a keeper, which uses its Service itself meanwhile.
type Server struct {
	options Options
	lock    *home.Lock
	local   *local.Service
	watch   *watching
	index   *cache
	house   *housekeeper
	space   *home.Space
	log     *slog.Logger
	logFile *rotatingFile
	began   time.Time
	about   api.About
	place   home.FileIdentity // of the home whose lock is held
	socket  *socket
	http    *http.Server
	table   map[string]missions.Method

	// calls ends when the process is about to stop and its writing calls have
	// had their time; reads ends at once.
	calls, reads       context.Context
	endCalls, endReads context.CancelFunc
	work, handlers     sync.WaitGroup
	inFlight           atomic.Int64
	lastCall           mark
	configured         string      // the state of the configuration file that was read
	again              atomic.Bool // leaving to begin anew with another one
	leaveOnce          sync.Once
	leaving            chan struct{}
	closeOnce          sync.Once
	closed             error
}

// takeover is how long a starting process waits for one that is stopping.
const takeover = 3 * time.Second

// Start takes the home lock and begins to serve, where anything can be written in
// the home. An error that wraps
// missions.ErrHomeHeld says that another process does. The Server must be
// closed.
func Start(ctx context.Context, o Options) (*Server, error) {
	o.fill()
	if err := o.Home.CheckWritable(); err != nil {
		return nil, err
	}
	lock, err := hold(ctx, o)
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, lock: lock, began: time.Now(), leaving: make(chan struct{}), table: missions.Methods()}
	s.house = newHousekeeper(s)
	s.calls, s.endCalls = context.WithCancel(context.WithoutCancel(ctx))
	s.reads, s.endReads = context.WithCancel(s.calls)
	s.lastCall.set(s.began)
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.log.Info("serving", "pid", s.about.PID, "version", o.Version, "socket", s.socket.path)
	return s, nil
}

// hold takes the home lock. One that another process has is waited for only
// while nobody can be talked to: that process is about to stop.
func hold(ctx context.Context, o Options) (*home.Lock, error) {
	deadline := time.Now().Add(takeover)
	for {
		lock, err := o.Home.Hold(o.Command)
		if !errors.Is(err, home.ErrHeld) {
			return lock, err
		}
		if answers(o.Home.Socket()) || time.Now().After(deadline) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// answers reports whether somebody listens on a socket.
func answers(path string) bool {
	if path == "" {
		return false
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// open opens what is served, then the socket.
func (s *Server) open() error {
	o := s.options
	s.logFile = &rotatingFile{name: o.Home.LogFile(), limit: logLimit}
	s.log = slog.New(slog.NewTextHandler(s.logFile, nil))
	s.configured = fileState(o.Home.ConfigFile())
	config, broken, err := o.Home.ReadConfig()
	if err != nil {
		return err
	}
	if config, err = config.OverriddenBy(o.Getenv); err != nil {
		return err
	}
	if broken != nil {
		s.log.Warn("the configuration is what it was when it was last read well", "error", broken)
	}
	s.space = home.NewSpace(o.Home, config.Storage, o.FreeSpace)
	s.index = openCache(o.Home.IndexDir(), s.log, s.space.CheckRoom)
	s.watch = newWatching(o, config.Watch, s.log)
	s.local, err = local.New(local.Options{
		Home: o.Home, Config: config, Getenv: o.Getenv, Broken: broken, Adapters: projects.Agents(), Watching: s.watch, Index: s.index, Space: s.space,
		Clock: o.Clock, Log: s.log, Automate: o.Automate,
	})
	if err != nil {
		return err
	}
	s.about = aboutSelf(o)
	if s.place, err = o.Home.Identity(); err != nil {
		return err
	}
	if s.socket, err = listen(o); err != nil {
		return err
	}
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.serve), ConnContext: withPeer, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return s.calls },
		ErrorLog:    slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	s.work.Go(func() {
		if err := s.http.Serve(s.socket); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the socket failed", "error", err)
			s.leave("the socket failed")
		}
	})
	s.work.Go(s.catchUp)
	s.work.Go(s.oversee)
	return nil
}

// catchUp makes up for what processes that died left undone.
func (s *Server) catchUp() {
	if err := s.local.Recover(s.calls); err != nil && s.calls.Err() == nil {
		s.log.Warn("recover", "error", err)
	}
	if err := s.space.Measure(); err != nil {
		s.log.Warn("measure the home", "error", err)
	}
	if err := s.local.Sweep(s.reads); err != nil && s.reads.Err() == nil {
		s.log.Warn("sweep", "error", err)
	}
}

// Service is what is served, for use in this process.
func (s *Server) Service() missions.Service { return local.Gate(service{s.local, s}, s.space) }

// Leaving is closed when the Server wants to be closed: somebody asked, or
// there was nothing to do for long.
func (s *Server) Leaving() <-chan struct{} { return s.leaving }

func (s *Server) leave(why string) {
	s.leaveOnce.Do(func() {
		s.log.Info("leaving", "why", why)
		close(s.leaving)
	})
}

// homeGone is why a process leaves whose home was moved or removed: it would write
// where nobody looks, and make anew what was removed.
const homeGone = "the home was moved, or removed"

// athome reports whether the home is still where it was.
func (s *Server) athome() bool {
	place, err := s.options.Home.Identity()
	return err == nil && place == s.place || err != nil && !errors.Is(err, fs.ErrNotExist)
}

func (s *Server) isLeaving() bool {
	select {
	case <-s.leaving:
		return true
	default:
		return false
	}
}

// grace is how long calls that write are given when the process stops.
const grace = 10 * time.Second

// Close stops serving: no new calls; those that only read are cut off, and
// asked again of whoever serves next; those that write have some time to end.
// When it returns, nothing of the Server runs, and the home lock is free.
func (s *Server) Close() error {
	s.closeOnce.Do(func() { s.closed = s.close() })
	return s.closed
}

// keepGrowth keeps the growth that waits in memory alone: the next process would not know
// when it is due.
func (s *Server) keepGrowth(ctx context.Context) {
	if !s.athome() {
		return // it would write where nobody looks
	}
	if err := s.local.KeepAllGrowth(ctx); err != nil {
		s.log.Warn("keep what has grown", "error", err)
	}
}

func (s *Server) close() error {
	var errs []error
	if s.log != nil {
		s.leave("closed")
	}
	if s.socket != nil {
		errs = append(errs, s.socket.retract())
	}
	s.endReads()
	if s.local != nil {
		s.local.Leave()
	}
	if s.http != nil {
		limited, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if err := s.http.Shutdown(limited); err != nil {
			s.endCalls()
			errs = append(errs, fmt.Errorf("calls were cut off: %w", err), s.http.Close())
		}
		s.handlers.Wait()
		s.keepGrowth(limited)
	}
	s.endCalls()
	if s.watch != nil {
		errs = append(errs, s.watch.close())
	}
	s.work.Wait()
	if s.local != nil {
		errs = append(errs, s.local.Close())
	}
	if s.index != nil && s.athome() { // it would be made anew at the old path
		errs = append(errs, s.index.close())
	}
	errs = append(errs, s.lock.Release())
	if s.log != nil {
		s.log.Info("stopped")
		errs = append(errs, s.logFile.Close())
	}
	return errors.Join(errs...)
}
