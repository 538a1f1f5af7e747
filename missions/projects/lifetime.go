package projects

import (
	"context"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// Lifetime ends what a process of Umbra's does, in two steps.
type Lifetime struct {
	Leaving context.Context // ends when the process is about to close
	Depart  context.CancelFunc
	Closing context.Context // ends when it closes
	End     context.CancelFunc
	Workers sync.WaitGroup // those that closing waits for
}

// ErrClosing answers requests that come, or are met, by the end of the Service.
var ErrClosing = missions.Errorf(missions.KindInterrupted, "", "umbra is ending")

// StartWorker counts a worker in, unless the Service is ending.
func (d *Desk) StartWorker() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.Closing.Err() != nil {
		return false
	}
	d.Workers.Add(1)
	return true
}

// EndWorkers ends what is being carried out; none begins any more.
func (d *Desk) EndWorkers() {
	d.mu.Lock()
	d.End()
	d.mu.Unlock()
	d.Workers.Wait()
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
