package client

import (
	"context"
	"time"
)

// patienceSteps is in how many parts patience is measured.
const patienceSteps = 8

// patient gives a context that ends when this process has run for d. Time in
// which it was stopped, as by Ctrl-Z, is not held against the daemon: what was
// answered meanwhile is still to be read, and a timer would be first. After a
// stop that was longer than d all of it begins anew.
func patient(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancelCause(ctx)
	go func() {
		for left := patienceSteps; left > 0; left-- {
			begun := time.Now()
			if wait(limited, d/patienceSteps) != nil {
				return
			}
			if time.Since(begun) > d {
				left = patienceSteps + 1
			}
		}
		cancel(context.DeadlineExceeded)
	}()
	return limited, func() { cancel(nil) }
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
