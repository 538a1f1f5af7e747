package missions

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/capture"
)

// manyFiles and manyBytes are from how many on reading them is worth figures.
const (
	manyFiles = 1000
	manyBytes = 64 << 20
)

// tellingEvery is how often figures are told at most.
const tellingEvery = 100 * time.Millisecond

// teller tells the caller how far a work over files is, from time to time.
type teller struct {
	ctx  context.Context
	next atomic.Int64 // when figures are worth telling again, in Unix nanoseconds
	mu   sync.Mutex   // held while telling: figures come one after the other
}

// tell may be called from several goroutines, and often: most calls do nothing.
func (t *teller) tell(n Notice) {
	if n.Total <= manyFiles && n.TotalBytes <= manyBytes && (n.Total > 0 || n.Done <= manyFiles) {
		return
	}
	now := time.Now()
	if now.UnixNano() < t.next.Load() || !t.mu.TryLock() {
		return
	}
	defer t.mu.Unlock()
	t.next.Store(now.Add(tellingEvery).UnixNano())
	Notify(t.ctx, n)
}

// readingTeller tells how far the capture of a workspace is.
func readingTeller(ctx context.Context, root string) func(capture.Progress) {
	looking, reading := &teller{ctx: ctx}, &teller{ctx: ctx}
	return func(p capture.Progress) {
		if p.TotalFiles == 0 {
			looking.tell(Notice{Text: "looking through " + root, Done: int64(p.Files), Unit: "files"})
			return
		}
		reading.tell(Notice{
			Text: "reading " + root, Done: int64(p.Files), Total: int64(p.TotalFiles), Unit: "files",
			Bytes: p.Bytes, TotalBytes: p.TotalBytes,
		})
	}
}
