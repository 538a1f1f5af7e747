package daemon

import (
	"sync/atomic"
	"time"
)

// mark is when something happened last. It keeps the monotonic reading, so that
// a clock that is set back makes nothing wait for it to catch up. Any goroutine
// may use it.
type mark struct{ at atomic.Pointer[time.Time] }

func (m *mark) set(at time.Time) { m.at.Store(&at) }

// time is the zero time before anything happened.
func (m *mark) time() time.Time {
	if at := m.at.Load(); at != nil {
		return *at
	}
	return time.Time{}
}
