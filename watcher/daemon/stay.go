package daemon

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/missions/home"
)

// Staying serves the home from a command that stays, such as a keeper, for as
// long as no other process does: what runs beneath it finds somebody then. The
// command itself asks over the socket like any other, so that it does not
// matter which process serves at the time. Its methods may be called from any
// goroutine.
type Staying struct {
	options Options
	settled chan struct{} // closed when it is known who serves
	once    sync.Once

	mu     sync.Mutex
	stop   func() error // nil while it is paused
	closed bool
}

// How long a Staying waits before it tries again to serve: while another process
// does, after it was asked to make way, and after a failure.
const (
	heldFor    = 250 * time.Millisecond
	madeWayFor = 5 * time.Second
	failedFor  = 30 * time.Second
)

// Stay begins to serve the home, or to wait for the process that does. It must
// be closed.
func Stay(o Options) *Staying {
	o.IdleExit = math.MaxInt64 // it stays as long as its command does
	s := &Staying{options: o, settled: make(chan struct{})}
	s.resume()
	return s
}

// Settled is closed when this process serves, another does, or none can.
func (s *Staying) Settled() <-chan struct{} { return s.settled }

// Close stops serving, and returns when nothing of it runs.
func (s *Staying) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.end()
}

// Pause stops serving before the process itself is stopped, as by Ctrl-Z: others
// would wait for it. The function that it returns goes on.
func (s *Staying) Pause() (resume func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resume, s.end()
}

// end stops what resume has begun. The caller holds the lock.
func (s *Staying) end() error {
	if s.stop == nil {
		return nil
	}
	stop := s.stop
	s.stop = nil
	return stop()
}

func (s *Staying) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil || s.closed {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx) }()
	s.stop = func() error {
		cancel()
		return <-ended
	}
}

// run serves whenever it can, until the context ends.
func (s *Staying) run(ctx context.Context) error {
	for {
		server, err := Start(ctx, s.options)
		s.once.Do(func() { close(s.settled) })
		pause := failedFor
		switch {
		case err == nil:
			select {
			case <-ctx.Done():
				return server.Close()
			case <-server.Leaving():
			}
			if pause = madeWayFor; server.tenure.again.Load() {
				pause = 0
			}
			err = server.Close()
		case errors.Is(err, home.ErrHeld):
			err, pause = nil, heldFor
		case errors.Is(err, context.Canceled):
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
