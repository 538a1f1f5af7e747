package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
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
	tenure  *tenure
	calls   *calls
	local   *local.Service
	watch   *watching
	index   *cache
	house   *housekeeper
	space   *home.Space
	log     homeLog
	about   api.About
	socket  *socket
	http    *http.Server
	table   map[string]missions.Method
	work    sync.WaitGroup // of its own goroutines
	closing func() error
}

// Start takes the home lock and begins to serve, where anything can be written in
// the home. An error that wraps
// missions.ErrHomeHeld says that another process does. The Server must be
// closed.
func Start(ctx context.Context, o Options) (*Server, error) {
	o.fill()
	if err := o.Home.CheckWritable(); err != nil {
		return nil, err
	}
	log := openLog(o.Home)
	held, err := begin(ctx, o, log.Logger)
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, tenure: held, calls: newCalls(ctx), log: log, table: missions.Methods()}
	s.closing = sync.OnceValue(s.close)
	s.house = newHousekeeper(s)
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.log.Info("serving", "pid", s.about.PID, "version", o.Version, "socket", s.socket.path)
	return s, nil
}

// open opens what is served, then the socket.
func (s *Server) open() error {
	o := s.options
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
	s.index = openCache(o.Home.IndexDir(), s.log.Logger, s.space.CheckRoom)
	s.watch = newWatching(o, config.Watch, s.log.Logger)
	s.local, err = local.New(local.Options{
		Home: o.Home, Config: config, Getenv: o.Getenv, Broken: broken, Adapters: projects.Agents(), Watching: s.watch, Index: s.index, Space: s.space,
		Clock: o.Clock, Log: s.log.Logger, Automate: o.Automate,
	})
	if err != nil {
		return err
	}
	s.about = aboutSelf(o)
	if s.socket, err = listen(o); err != nil {
		return err
	}
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.serve), ConnContext: withPeer, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return s.calls.writing },
		ErrorLog:    slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	s.work.Go(func() {
		if err := s.http.Serve(s.socket); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the socket failed", "error", err)
			s.tenure.leave("the socket failed")
		}
	})
	s.work.Go(s.catchUp)
	s.work.Go(s.oversee)
	return nil
}

// catchUp makes up for what processes that died left undone.
func (s *Server) catchUp() {
	if err := s.local.Recover(s.calls.writing); err != nil && s.calls.writing.Err() == nil {
		s.log.Warn("recover", "error", err)
	}
	if err := s.space.Measure(); err != nil {
		s.log.Warn("measure the home", "error", err)
	}
	if err := s.local.Sweep(s.calls.reading); err != nil && s.calls.reading.Err() == nil {
		s.log.Warn("sweep", "error", err)
	}
}

// Service is what is served, for use in this process.
func (s *Server) Service() missions.Service { return local.Gate(service{s.local, s}, s.space) }

// Leaving is closed when the Server wants to be closed: somebody asked, or
// there was nothing to do for long.
func (s *Server) Leaving() <-chan struct{} { return s.tenure.leaving }

// grace is how long calls that write are given when the process stops.
const grace = 10 * time.Second

// Close stops serving: no new calls; those that only read are cut off, and
// asked again of whoever serves next; those that write have some time to end.
// When it returns, nothing of the Server runs, and the home lock is free.
func (s *Server) Close() error { return s.closing() }

// keepGrowth keeps the growth that waits in memory alone: the next process would not know
// when it is due.
func (s *Server) keepGrowth(ctx context.Context) {
	if !s.tenure.athome() {
		return // it would write where nobody looks
	}
	if err := s.local.KeepAllGrowth(ctx); err != nil {
		s.log.Warn("keep what has grown", "error", err)
	}
}

func (s *Server) close() error {
	var errs []error
	s.tenure.leave("closed")
	if s.socket != nil {
		errs = append(errs, s.socket.retract())
	}
	s.calls.endReading()
	if s.local != nil {
		s.local.Leave()
	}
	if s.http != nil {
		limited, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if err := s.http.Shutdown(limited); err != nil {
			s.calls.endWriting()
			errs = append(errs, fmt.Errorf("calls were cut off: %w", err), s.http.Close())
		}
		s.calls.handlers.Wait()
		s.keepGrowth(limited)
	}
	s.calls.endWriting()
	if s.watch != nil {
		errs = append(errs, s.watch.close())
	}
	s.work.Wait()
	if s.local != nil {
		errs = append(errs, s.local.Close())
	}
	if s.index != nil && s.tenure.athome() { // it would be made anew at the old path
		errs = append(errs, s.index.close())
	}
	errs = append(errs, s.tenure.lock.Release())
	s.log.Info("stopped")
	return errors.Join(append(errs, s.log.close())...)
}
