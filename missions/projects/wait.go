package projects

import (
	"context"
	"time"
)

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
