package projects

import (
	"context"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// Lifetime ends what a process of Umbra's does, in two steps.
type Lifetime struct {
	mu      sync.Mutex      // held where Workers grow, and where Closing ends
	Leaving context.Context // ends when the process is about to close
	Depart  context.CancelFunc
	Closing context.Context // ends when it closes
	End     context.CancelFunc
	Workers sync.WaitGroup // those that closing waits for
}

// ErrClosing answers requests that come, or are met, by the end of the Service.
var ErrClosing = missions.Errorf(missions.KindInterrupted, "", "umbra is ending")

// StartWorker counts a worker in, unless the Service is ending.
func (l *Lifetime) StartWorker() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Closing.Err() != nil {
		return false
	}
	l.Workers.Add(1)
	return true
}

// EndWorkers ends what is being carried out; none begins any more.
func (l *Lifetime) EndWorkers() {
	l.mu.Lock()
	l.End()
	l.mu.Unlock()
	l.Workers.Wait()
}

// PollInterval is how often a state is looked at by a process that has no watcher
// to tell it. Reading one costs some hundred microseconds.
const PollInterval = 100 * time.Millisecond

// Sleep waits, or returns why it need not.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
