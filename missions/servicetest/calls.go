package servicetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// progressTold makes a mission of enough files that reading them is told. How
// often is not promised.
func progressTold(d *desk) {
	for i := range 4000 {
		d.write(fmt.Sprintf("dir%d/file%d", i/100, i), fmt.Sprintf("content %d\n", i))
	}
	var mu sync.Mutex
	var heard []missions.Notice
	var over atomic.Bool
	var late atomic.Int32
	ctx := missions.WithNotify(d.ctx, func(n missions.Notice) {
		if over.Load() {
			late.Add(1)
		}
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, n)
	})
	_, err := d.NewMission(ctx, missions.NewMissionRequest{Caller: d.caller(), Name: "big", Command: []string{"sh"}})
	over.Store(true)
	d.ok("new mission", err)
	mu.Lock()
	defer mu.Unlock()
	if len(heard) == 0 {
		d.wrong("no progress was told")
	}
	counted := false
	for _, n := range heard {
		known := n.Total >= 4000 && n.Done <= n.Total && n.Bytes <= n.TotalBytes
		if n.Text == "" || n.Unit != "files" || n.Total != 0 && !known {
			d.wrong("notice %+v", n)
		}
		counted = counted || known
	}
	if !counted {
		d.wrong("no notice of %d says of how many", len(heard))
	}
	if n := late.Load(); n > 0 {
		d.wrong("%d notices after the call", n)
	}
}

// contextEnds cancels a call that would wait for ever.
func contextEnds(d *desk) {
	d.write("a.txt", "one\n")
	d.mission("work")
	forever := missions.WaitRequest{Caller: d.caller(), Missions: []string{"work"}, States: []missions.StateName{missions.StateRunning}}
	ctx, cancel := context.WithCancel(d.ctx)
	timer := time.AfterFunc(100*time.Millisecond, cancel)
	defer timer.Stop()
	began := time.Now()
	_, err := d.Wait(ctx, forever)
	if !errors.Is(err, context.Canceled) {
		d.wrong("canceled: %w", err)
	}
	ctx, cancel = context.WithTimeout(d.ctx, 100*time.Millisecond)
	defer cancel()
	_, err = d.Wait(ctx, forever)
	if !errors.Is(err, context.DeadlineExceeded) {
		d.wrong("at the deadline: %w", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		d.wrong("it took %s to end", took)
	}
	ended, cancel := context.WithCancel(d.ctx)
	cancel()
	if _, err := d.Missions(ended, missions.MissionsRequest{Caller: d.caller()}); err != nil && !errors.Is(err, context.Canceled) {
		d.wrong("after its end: %w", err)
	}
	if _, err := d.Missions(d.ctx, missions.MissionsRequest{Caller: d.caller()}); err != nil {
		d.wrong("the next call: %w", err)
	}
}

// callsAtOnce takes snapshots of one workspace from many callers (H26).
func callsAtOnce(d *desk) {
	d.write("a.txt", "one\n")
	d.mission("work")
	const callers = 8
	var wg sync.WaitGroup
	errs := make([]error, callers)
	for i := range callers {
		wg.Go(func() {
			_, errs[i] = d.Snapshot(d.ctx, missions.SnapshotRequest{Caller: d.caller(), Message: fmt.Sprintf("caller %d", i)})
		})
	}
	wg.Wait()
	for _, err := range errs {
		d.ok("a snapshot at once with others", err)
	}
	entries, err := d.Log(d.ctx, missions.LogRequest{Caller: d.caller()})
	if d.ok("log", err); len(entries) < 2 {
		d.wrong("log %+v", entries)
	}
}
