package watcher

import (
	"errors"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// maxQueue bounds the events waiting to be handled (about 10 MB).
const maxQueue = 1 << 16

// item is an event in the kernel's order, or the news that some were lost.
type item struct {
	name string
	op   fsnotify.Op
	lost bool
}

// queue empties the kernel's queue at once, whatever the loop is doing. That
// is needed for more than speed: fsnotify reports some errors while holding
// the lock that Add takes, so a loop that adds watches must never be the one
// that reads errors.
type queue struct {
	ready chan struct{}
	mu    sync.Mutex
	items []item
	limit int
}

func newQueue() *queue {
	return &queue{ready: make(chan struct{}, 1), limit: maxQueue}
}

// pump moves events and errors until both channels are closed. fsnotify sends
// on both from one goroutine, so their order is the kernel's.
func (q *queue) pump(events <-chan fsnotify.Event, errs <-chan error) {
	for events != nil || errs != nil {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			q.push(item{name: e.Name, op: e.Op})
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			// A watch that ended in the kernel before fsnotify removed it
			// (a directory moved, then deleted) loses nothing.
			if !errors.Is(err, syscall.EINVAL) {
				q.push(item{lost: true})
			}
		}
	}
}

func (q *queue) push(it item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.items)
	switch {
	case it.lost || n >= q.limit:
		// All is looked at anew after a loss, so nothing older matters.
		q.items = []item{{lost: true}}
	case n > 0 && q.items[n-1] == it:
		return
	default:
		q.items = append(q.items, it)
	}
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take removes up to n of the oldest.
func (q *queue) take(n int) []item {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) <= n {
		taken := q.items
		q.items = nil
		return taken
	}
	taken := q.items[:n:n]
	q.items = q.items[n:]
	q.signal()
	return taken
}

func (q *queue) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = nil
}
