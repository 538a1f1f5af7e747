package daemon

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// A tenure is the time in which this process has the home: from the lock until it wants to
// leave. Any goroutine may use it, but for reconfigure.
type tenure struct {
	home       home.Home
	lock       *home.Lock
	place      home.FileIdentity // of the home whose lock is held
	since      time.Time
	log        *slog.Logger
	configured string // the state of the configuration file that was read

	once    sync.Once
	leaving chan struct{} // closed when the process wants to leave
	again   atomic.Bool   // to begin anew with another configuration
}

// takeover is how long a starting process waits for one that is stopping.
const takeover = 3 * time.Second

// begin takes the home lock. An error that wraps home.ErrHeld says that another process has
// it; who begins a tenure releases its lock.
func begin(ctx context.Context, o Options, log *slog.Logger) (*tenure, error) {
	lock, err := hold(ctx, o)
	if err != nil {
		return nil, err
	}
	t := &tenure{home: o.Home, lock: lock, since: time.Now(), log: log, configured: fileState(o.Home.ConfigFile()), leaving: make(chan struct{})}
	if t.place, err = o.Home.Identity(); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return t, nil
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

// homeGone is why a process leaves whose home was moved or removed: it would write
// where nobody looks, and make anew what was removed.
const homeGone = "the home was moved, or removed"

// athome reports whether the home is still where it was.
func (t *tenure) athome() bool {
	place, err := t.home.Identity()
	return err == nil && place == t.place || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// leave says that the process wants to be closed, and why; the first reason counts.
func (t *tenure) leave(why string) {
	t.once.Do(func() {
		t.log.Info("leaving", "why", why)
		close(t.leaving)
	})
}

func (t *tenure) isLeaving() bool {
	select {
	case <-t.leaving:
		return true
	default:
		return false
	}
}

// reconfigure leaves, to begin anew, when the user's configuration has changed
// and can be read.
func (t *tenure) reconfigure() {
	now := fileState(t.home.ConfigFile())
	if now == t.configured {
		return
	}
	if _, err := settings.Load(t.home.ConfigFile()); err != nil {
		t.log.Warn("the configuration stays as it was", "error", err)
		t.configured = now
		return
	}
	t.again.Store(true)
	t.leave("the configuration has changed")
}
