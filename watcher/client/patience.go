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
		if elapse(d, time.Now, func(step time.Duration) error { return wait(limited, step) }) == nil {
			cancel(context.DeadlineExceeded)
		}
	}()
	return limited, func() { cancel(nil) }
}

// elapse returns when this process has run for d, or with the error of a wait.
func elapse(d time.Duration, now func() time.Time, wait func(time.Duration) error) error {
	for left := patienceSteps; left > 0; left-- {
		begun := now()
		if err := wait(d / patienceSteps); err != nil {
			return err
		}
		if now().Sub(begun) > d {
			left = patienceSteps + 1
		}
	}
	return nil
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
