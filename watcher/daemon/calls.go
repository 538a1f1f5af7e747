package daemon

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// calls are those of clients, and how long they may last when the process stops: those that
// only read are cut off, and asked again of whoever serves next; those that write have some
// time to end. Any goroutine may use it.
type calls struct {
	writing, reading       context.Context
	endWriting, endReading context.CancelFunc

	handlers sync.WaitGroup
	inFlight atomic.Int64
	last     mark // when one ended
}

// newCalls is of a process that has begun to serve just now. The process's own work ends as
// theirs does, and not with ctx.
func newCalls(ctx context.Context) *calls {
	c := &calls{}
	c.writing, c.endWriting = context.WithCancel(context.WithoutCancel(ctx))
	c.reading, c.endReading = context.WithCancel(c.writing)
	c.last.set(time.Now())
	return c
}

// enter counts a call until the function that it returns is called.
func (c *calls) enter() (leave func()) {
	c.handlers.Add(1)
	c.inFlight.Add(1)
	return func() {
		c.last.set(time.Now())
		c.inFlight.Add(-1)
		c.handlers.Done()
	}
}

// underWay reports whether a client waits for an answer.
func (c *calls) underWay() bool { return c.inFlight.Load() > 0 }

// quiet is for how long none has ended.
func (c *calls) quiet() time.Duration { return time.Since(c.last.time()) }
