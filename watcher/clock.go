package watcher

import "time"

// Clock is the time the Watcher lives by.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f once, on any goroutine, when d has passed, unless
	// stopped before. f does not block.
	AfterFunc(d time.Duration, f func()) (stop func())
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) AfterFunc(d time.Duration, f func()) func() {
	t := time.AfterFunc(d, f)
	return func() { t.Stop() }
}

// alarm is one timer for many deadlines: it rings at the earliest that was
// set, and whoever is woken sets the next.
type alarm struct {
	clock  Clock
	ring   func()
	at     time.Time
	cancel func()
}

func (a *alarm) set(at time.Time) {
	if !a.at.IsZero() && !at.Before(a.at) {
		return
	}
	a.stop()
	a.at = at
	a.cancel = a.clock.AfterFunc(max(0, at.Sub(a.clock.Now())), a.ring)
}

// rang forgets the deadline that has passed.
func (a *alarm) rang() { a.stop() }

func (a *alarm) stop() {
	if a.cancel != nil {
		a.cancel()
	}
	a.cancel, a.at = nil, time.Time{}
}
