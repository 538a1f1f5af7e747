package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/watcher/api"
)

// ErrElsewhere is found in Connect's error when this process sees another part
// of the machine than the one that serves, or would: it is in a sandbox or a
// container. No daemon is started from there; the caller works in process.
var ErrElsewhere = errors.New("in a sandbox or container of its own")

// Options say which home to be served from, and how.
type Options struct {
	Home    home.Home
	Version string // of this binary
	// Start is the command line that runs a daemon for the home; empty: none
	// is started.
	Start []string
	// Environ is where the daemon's environment is picked from.
	Environ []string
	// Timeout bounds reaching or starting the daemon; 2 s if 0.
	Timeout time.Duration
	// Patience is how long a process may take to say what it is; if 0, 1 s, and in a
	// call with a deadline no more than a quarter of its time.
	Patience time.Duration
}

// aboutPatience is how long one process may take to say what it is, where the
// options leave it open.
const aboutPatience = time.Second

// Connect reaches the process that serves the home, and starts a daemon if
// there is none. Its error is of KindNoDaemon, and wraps ErrElsewhere, ErrHangs or
// missions.ErrUnwritable where that is why. The Client must be closed.
func Connect(ctx context.Context, o Options) (*Client, error) {
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Second
	}
	c := newClient(o)
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
	// patience is how long it may take.
	patience time.Duration
}

// begins reports whether a process is about to serve, or to make way for the next: one that
// this process has started and that has not ended, or one that has the home and no socket.
func (s *search) begins() bool {
	if _, _, held := s.options.Home.LockHolder(); held {
		return nobody(s.last)
	}
	if s.started == nil {
		return false
	}
	ended, _ := s.started.result()
	return !ended
}

// beginPatience is how long a daemon may take to begin, where a person waits: on a busy
// machine to start a process alone takes seconds.
const beginPatience = 30 * time.Second

// hungPatience is how long a process may take that did not answer a while ago.
const hungPatience = 200 * time.Millisecond

// connect finds a process that serves, within the timeout, or within half of
// the time that the caller has: the other half is for doing without. A caller with all
// the time waits longer for one that begins. That one hangs is remembered, for hooks too:
// not each command waits for it anew.
func (c *Client) connect(ctx context.Context) error {
	timeout := c.options.Timeout
	deadline, hurried := ctx.Deadline()
	if hurried {
		timeout = min(timeout, time.Until(deadline)/2)
	}
	hangs := c.options.Home.Hangs()
	if hangs {
		timeout = min(timeout, hungPatience)
	}
	err := c.reach(ctx, timeout, hurried)
	if errors.Is(err, ErrHangs) && !hurried && !hangs {
		c.options.Home.NoteHang()
	}
	return err
}

func (c *Client) reach(ctx context.Context, timeout time.Duration, hurried bool) error {
	limited, cancel := patient(ctx, timeout)
	defer func() { cancel() }()
	s := &search{Client: c, patience: timeout}
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		found, err := s.step(limited)
		if found || err != nil {
			return err
		}
		if ended := wait(limited, pause); ended != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if hurried || s.patience >= beginPatience || !s.begins() {
				return s.explain()
			}
			cancel()
			s.patience = beginPatience
			limited, cancel = patient(ctx, beginPatience-timeout)
		}
	}
}

// step looks once, and does what helps. An error is final.
func (s *search) step(ctx context.Context) (bool, error) {
	found, err := s.ask(ctx, about)
	if ctx.Err() == nil || s.last == nil {
		s.last = err
	}
	switch {
	case errors.Is(err, errRefused), errors.Is(err, fs.ErrPermission):
		return false, forbidden(err)
	case err == nil && found.Namespace != "" && found.Namespace != api.Namespace():
		return false, missions.Errorf(missions.KindNoDaemon, "umbra --no-daemon works in this process",
			"the daemon (pid %d) sees other files than this process, which is %w", found.PID, ErrElsewhere)
	case err == nil && found.Leaving:
		s.last = errLeaving
		return false, nil
	case err == nil && TooOld(found):
		if !s.asked {
			s.asked = true
			_, _ = s.ask(ctx, leave)
		}
		s.last = fmt.Errorf("version %s is too old, and does not make way", found.Version)
		return false, nil
	case err == nil:
		return true, nil
	case !nobody(err):
		return false, nil // there is one: it may be slow, or on its way out
	}
	return false, s.start()
}

// forbidden says what forbids to use a daemon. A socket of somebody else's is EACCES; one
// that nobody may use is EPERM, as in an agent's sandbox (Codex on Linux, by seccomp).
func forbidden(err error) error {
	if errors.Is(err, syscall.EPERM) {
		return missions.Errorf(missions.KindNoDaemon, "type it in another terminal, or have it run outside of the sandbox", "a sandbox forbids this process to ask the daemon: %w", err)
	}
	return missions.Errorf(missions.KindNoDaemon, "run as the user that Umbra's home belongs to", "the daemon can't be used: %w", err)
}

// start starts a daemon. One that could not begin is not waited for. One that ended well
// has made way for another: where that one has ended too, as a process that was killed
// holds the home until it is gone, a daemon is started again.
func (s *search) start() error {
	if len(s.options.Start) == 0 {
		return nil
	}
	if s.started != nil {
		ended, err := s.started.result()
		if _, _, held := s.options.Home.LockHolder(); held || !ended {
			return nil
		}
		if err != nil {
			return s.explain()
		}
	}
	if Sandboxed() && s.options.Home.CheckWritable() == nil {
		return missions.Errorf(missions.KindNoDaemon, "umbra --no-daemon works in this process",
			"no daemon runs, and none is started by a process that is %w", ErrElsewhere)
	}
	if err := s.options.Home.ProbeWritable(); err != nil {
		return missions.Errorf(missions.KindNoDaemon, missions.AsError(err).Hint, "no daemon runs, and none can be started: %w", err)
	}
	var err error
	if s.started, err = launch(s.options); err != nil {
		return missions.Errorf(missions.KindNoDaemon, "umbra daemon run shows why", "start the daemon: %w", err)
	}
	return nil
}

// nobody reports whether an error means that no process serves.
func nobody(err error) bool {
	return errors.Is(err, errNoSocket) || errors.Is(err, errOtherHome) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// explain says why no daemon was found in time.
func (s *search) explain() error {
	holder, pid, held := s.options.Home.LockHolder()
	log := filepath.Clean(s.options.Home.LogFile())
	without := "umbra --no-daemon works in this process"
	last := plain(s.last)
	if held && errors.Is(s.last, context.DeadlineExceeded) {
		last = &reason{last.Error(), ErrHangs}
	}
	switch {
	case held && !nobody(s.last):
		return missions.Errorf(missions.KindNoDaemon, endsIt(pid)+"; "+without, "%s holds Umbra's home, but %w", holder, last)
	case held:
		return missions.Errorf(missions.KindNoDaemon, endsIt(pid)+"; see "+log, "%s holds Umbra's home but serves nothing: %w", holder, last)
	case s.started != nil:
		if _, err := s.started.result(); err != nil {
			return missions.Errorf(missions.KindNoDaemon, "umbra daemon run shows why; "+without,
				"the daemon that was started ended: %w; see %s", err, log)
		}
		return missions.Errorf(missions.KindNoDaemon, without+"; see "+log, "the daemon that was started does not serve after %s", s.patience)
	}
	return missions.Errorf(missions.KindNoDaemon, "umbra daemon start", "no daemon runs: %w", last)
}

// endsIt is how a process is ended that answers nobody.
func endsIt(pid int) string { return fmt.Sprintf("kill -9 %d ends it, and nothing is lost", pid) }

// About asks the process that serves the home what it is, and starts none. One
// that begins or ends just now is waited for, a moment.
func About(ctx context.Context, o Options) (api.About, error) {
	s := &search{Client: newClient(o)}
	defer s.Close()
	limited, cancel := patient(ctx, cmp.Or(o.Patience, aboutPatience))
	defer cancel()
	for {
		answer, err := s.ask(limited, about)
		if err == nil {
			return answer, nil
		}
		if limited.Err() == nil || s.last == nil {
			s.last = err
		}
		_, _, held := o.Home.LockHolder()
		if nobody(err) && !held || wait(limited, 10*time.Millisecond) != nil {
			return api.About{}, s.explain()
		}
	}
}

// TooOld reports whether a process serves less than this binary asks for.
func TooOld(about api.About) bool { return about.Protocol < api.Protocol }

// Leave asks the process that serves the home to stop, and returns when it no
// longer holds the home; another one may by then. It reports whether there was
// one. One that begins or ends just now, and can't be asked, is waited for.
func Leave(ctx context.Context, o Options) (bool, error) {
	c := newClient(o)
	defer c.Close()
	asked, err := c.ask(ctx, leave)
	for nobody(err) {
		if _, _, known := o.Home.LockHolder(); !known {
			return false, nil
		}
		if free, err := isFree(o.Home); free || err != nil {
			return false, err
		}
		if wait(ctx, 10*time.Millisecond) != nil {
			holder, pid, _ := o.Home.LockHolder()
			return true, missions.Errorf(missions.KindTimeout, endsIt(pid), "%s holds Umbra's home, and can't be asked to stop: %w", holder, plain(err))
		}
		asked, err = c.ask(ctx, leave)
	}
	if err != nil {
		holder, pid, known := o.Home.LockHolder()
		if !known {
			return false, fmt.Errorf("ask the daemon to stop: %w", plain(err))
		}
		return true, missions.Errorf(missions.KindFailed, endsIt(pid), "%s: %w", holder, plain(err))
	}
	for {
		free, err := isFree(o.Home)
		if free || err != nil {
			return true, err
		}
		if _, pid, known := o.Home.LockHolder(); known && pid != asked.PID {
			return true, nil
		}
		if wait(ctx, 10*time.Millisecond) != nil {
			return true, missions.Errorf(missions.KindTimeout, "", "the daemon was asked to stop and still runs: %w", ctx.Err())
		}
	}
}

// isFree reports whether no process serves a home, or is about to.
func isFree(of home.Home) (bool, error) {
	held, err := of.Hold("umbra daemon stop")
	if errors.Is(err, home.ErrHeld) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, held.Release()
}
