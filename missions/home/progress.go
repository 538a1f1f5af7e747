package home

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/missions"
)

// ProgressMinFiles and progressMinBytes are from how many on reading them is worth figures.
const (
	ProgressMinFiles = 1000
	progressMinBytes = 64 << 20
)

// progressInterval is how often figures are told at most.
const progressInterval = 100 * time.Millisecond

// ProgressReporter tells the caller how far a work over files is, from time to time.
type ProgressReporter struct {
	Ctx        context.Context
	nextReport atomic.Int64 // when figures are worth telling again, in Unix nanoseconds
	mu         sync.Mutex   // held while telling: figures come one after the other
}

// Report may be called from several goroutines, and often: most calls do nothing.
func (t *ProgressReporter) Report(n missions.Notice) {
	if n.Total <= ProgressMinFiles && n.TotalBytes <= progressMinBytes && (n.Total > 0 || n.Done <= ProgressMinFiles) {
		return
	}
	now := time.Now()
	if now.UnixNano() < t.nextReport.Load() || !t.mu.TryLock() {
		return
	}
	defer t.mu.Unlock()
	t.nextReport.Store(now.Add(progressInterval).UnixNano())
	missions.Notify(t.Ctx, n)
}

// CaptureReporter tells how far the capture of a workspace is.
func CaptureReporter(ctx context.Context, root string) func(capture.Progress) {
	looking, reading := &ProgressReporter{Ctx: ctx}, &ProgressReporter{Ctx: ctx}
	return func(p capture.Progress) {
		if p.TotalFiles == 0 {
			looking.Report(missions.Notice{Text: "looking through " + root, Done: int64(p.Files), Unit: "files"})
			return
		}
		reading.Report(missions.Notice{
			Text: "reading " + root, Done: int64(p.Files), Total: int64(p.TotalFiles), Unit: "files",
			Bytes: p.Bytes, TotalBytes: p.TotalBytes,
		})
	}
}
