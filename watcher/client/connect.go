package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher/api"
)

// ErrElsewhere is found in Connect's error when this process sees another part
// of the machine than the one that serves, or would: it is in a sandbox or a
// container. No daemon is started from there; the caller works in process.
var ErrElsewhere = errors.New("in a sandbox or container of its own")

// Options say which home to be served from, and how.
type Options struct {
	Home    missions.Home
	Version string // of this binary
	// Start is the command line that runs a daemon for the home; empty: none
	// is started.
	Start []string
	// Environ is where the daemon's environment is picked from.
	Environ []string
	// Timeout bounds reaching or starting the daemon; 2 s if 0.
	Timeout time.Duration
}

// aboutPatience is how long one process may take to say what it is.
const aboutPatience = time.Second

// Connect reaches the process that serves the home, and starts a daemon if
// there is none. Its error is of KindNoDaemon, and wraps ErrElsewhere where
// that is why. The Client must be closed.
func Connect(ctx context.Context, o Options) (*Client, error) {
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Second
	}
	c := &Client{options: o}
	if err := c.connect(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// search is one try to find the process that serves.
type search struct {
	*Client
	started *started
	asked   bool // an older one to leave
	last    error
}

// connect finds a process that serves, within the timeout.
func (c *Client) connect(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	s := &search{Client: c}
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		found, err := s.step(limited)
		if found || err != nil {
			return err
		}
		if ended := wait(limited, pause); ended != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return s.explain()
		}
	}
}

// step looks once, and does what helps. An error is final.
func (s *search) step(ctx context.Context) (bool, error) {
	about, err := s.about(ctx)
	if ctx.Err() == nil || s.last == nil {
		s.last = err
	}
	switch {
	case errors.Is(err, errRefused), errors.Is(err, fs.ErrPermission):
		return false, missions.Errorf(missions.KindNoDaemon, "run as the user that Umbra's home belongs to", "the daemon can't be used: %w", err)
	case err == nil && about.Namespace != "" && about.Namespace != api.Namespace():
		return false, missions.Errorf(missions.KindNoDaemon, "umbra --no-daemon works in this process",
			"the daemon (pid %d) sees other files than this process, which is %w", about.PID, ErrElsewhere)
	case err == nil && about.Leaving:
		return false, nil
	case err == nil && about.Protocol < api.Protocol:
		if !s.asked {
			s.asked = true
			_, s.last = s.ask(ctx, api.MethodLeave)
		}
		return false, nil
	case err == nil:
		return true, nil
	case !nobody(err):
		return false, nil // there is one: it may be slow, or on its way out
	}
	return false, s.start()
}

// start starts a daemon, once.
func (s *search) start() error {
	if s.started != nil || len(s.options.Start) == 0 {
		return nil
	}
	if sandboxed() {
		return missions.Errorf(missions.KindNoDaemon, "umbra --no-daemon works in this process",
			"no daemon runs, and none is started by a process that is %w", ErrElsewhere)
	}
	var err error
	if s.started, err = launch(s.options); err != nil {
		return missions.Errorf(missions.KindNoDaemon, "umbra daemon run shows why", "start the daemon: %w", err)
	}
	return nil
}

// nobody reports whether an error means that no process serves.
func nobody(err error) bool {
	return errors.Is(err, errNoSocket) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// explain says why no daemon was found in time.
func (s *search) explain() error {
	holder, _, held := s.options.Home.Holder()
	log := filepath.Clean(s.options.Home.LogFile())
	switch {
	case !nobody(s.last) && held:
		return missions.Errorf(missions.KindNoDaemon, "umbra daemon stop, or see "+log,
			"%s does not answer within %s: %w", holder, s.options.Timeout, s.last)
	case held:
		return missions.Errorf(missions.KindNoDaemon, "see "+log,
			"%s holds Umbra's home but serves nothing: %w", holder, s.last)
	case s.started != nil && s.started.failed() != nil:
		return missions.Errorf(missions.KindNoDaemon, "umbra daemon run shows why; see "+log,
			"the daemon that was started ended: %w", s.started.failed())
	case s.started != nil:
		return missions.Errorf(missions.KindNoDaemon, "see "+log, "the daemon that was started does not serve after %s", s.options.Timeout)
	case len(s.options.Start) == 0:
		return missions.Errorf(missions.KindNoDaemon, "umbra daemon start", "no daemon runs: %w", s.last)
	}
	return missions.Errorf(missions.KindNoDaemon, "umbra daemon start", "no daemon was reached: %w", s.last)
}

// wait sleeps, unless the context ends first.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// About asks the process that serves the home what it is, and starts none.
func About(ctx context.Context, o Options) (api.About, error) {
	c := &Client{options: o}
	defer c.Close()
	about, err := c.about(ctx)
	if err != nil && nobody(err) {
		return about, missions.Errorf(missions.KindNoDaemon, "umbra daemon start", "no daemon runs: %w", err)
	}
	return about, err
}

// Leave asks the process that serves the home to stop, and returns when it no
// longer holds the home; another one may by then. It reports whether there was
// one.
func Leave(ctx context.Context, o Options) (bool, error) {
	c := &Client{options: o}
	defer c.Close()
	asked, err := c.ask(ctx, api.MethodLeave)
	if err != nil {
		if nobody(err) {
			return false, nil
		}
		holder, pid, known := o.Home.Holder()
		if !known {
			return false, fmt.Errorf("ask the daemon to stop: %w", err)
		}
		return true, missions.Errorf(missions.KindFailed, fmt.Sprintf("kill %d ends it; nothing is lost", pid), "%s does not answer: %w", holder, err)
	}
	for {
		held, err := o.Home.Hold("umbra daemon stop")
		if err == nil {
			return true, held.Release()
		}
		if !errors.Is(err, missions.ErrHomeHeld) {
			return true, err
		}
		if _, pid, known := o.Home.Holder(); known && pid != asked.PID {
			return true, nil
		}
		if wait(ctx, 10*time.Millisecond) != nil {
			return true, missions.Errorf(missions.KindTimeout, "", "the daemon was asked to stop and still runs: %w", err)
		}
	}
}
