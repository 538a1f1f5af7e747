package snapshots

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// OwedRetry is an owed snapshot, as the process that serves knows it: one that could
// not be taken and is tried again.
type OwedRetry struct {
	projects.OwedSnapshot
	UnnotedLifecycle missions.Lifecycle // the mission's lifecycle, if it could not be saved
	nextTry          time.Time          // no try before this time
	retryWait        time.Duration      // the wait between two tries
}

// An owed snapshot is tried again after a wait that grows. If the disk has no room, it is
// tried until there is room; after any other error, as long as the wait is short.
const (
	minRetryWait = time.Second
	maxRetryWait = time.Minute
)

// isNoRoomError reports whether the disk had no room.
func isNoRoomError(err error) bool { return home.ShortReasonOf(err) != "" || home.IsDiskFull(err) }

// NewOwedSnapshot is what a mission is owed after a snapshot was not taken.
func (tk *Taker) NewOwedSnapshot(m *projects.Mission, t missions.TakeSnapshot) *projects.OwedSnapshot {
	if t.RequestedAt.IsZero() {
		t.RequestedAt = tk.Now()
	}
	return &projects.OwedSnapshot{Take: t, Tip: m.Tip.ID.String()}
}

// clearOwedSnapshot forgets what a mission is owed, and reports whether it was owed
// anything.
func (tk *Taker) clearOwedSnapshot(m *projects.Mission) bool {
	known := tk.forgetOwedSnapshot(m.ID)
	owed := known || m.Live.OwedSnapshot != nil
	m.Live.OwedSnapshot = nil
	return owed
}

func (tk *Taker) forgetOwedSnapshot(id string) (known bool) {
	tk.owedMu.Lock()
	defer tk.owedMu.Unlock()
	_, known = tk.OwedRetries[id]
	delete(tk.OwedRetries, id)
	return known
}

// SaveLiveStateOwing is SaveLiveState, for a mission that is owed a snapshot unless
// owed is nil.
func (tk *Taker) SaveLiveStateOwing(m *projects.Mission, d *projects.OwedSnapshot) {
	if d != nil {
		m.Live.OwedSnapshot = d
	}
	saved := tk.SaveLiveState(m)
	if tk.Watching == nil {
		return // only a process that serves lives long enough to pay
	}
	tk.owedMu.Lock()
	defer tk.owedMu.Unlock()
	o := tk.OwedRetries[m.ID]
	if d != nil && o == nil {
		o = &OwedRetry{}
		tk.OwedRetries[m.ID] = o
	}
	if d != nil {
		o.OwedSnapshot, o.UnnotedLifecycle = *d, m.Lifecycle
	}
	if o != nil && saved {
		o.UnnotedLifecycle = nil
	}
}

// findOwedSnapshots finds the snapshots that earlier processes owed when they ended.
func (tk *Taker) findOwedSnapshots() {
	ids, err := tk.Journal.LiveMissions()
	if err != nil {
		tk.Logger.Warn("look for snapshots that there was no room for", "error", err)
	}
	for _, id := range ids {
		raw, err := tk.Journal.Live(id)
		var noted projects.Live
		if err != nil || json.Unmarshal(raw, &noted) != nil || noted.OwedSnapshot == nil {
			continue
		}
		tk.owedMu.Lock()
		if tk.OwedRetries[id] == nil {
			tk.OwedRetries[id] = &OwedRetry{OwedSnapshot: *noted.OwedSnapshot}
		}
		tk.owedMu.Unlock()
	}
}

// HasOwedSnapshots reports whether any mission is owed a snapshot, also by an earlier
// process, and whether it is time to try again. The process that serves asks it.
func (tk *Taker) HasOwedSnapshots() (some, due bool) {
	tk.findOwedOnce.Do(tk.findOwedSnapshots)
	tk.owedMu.Lock()
	defer tk.owedMu.Unlock()
	for _, o := range tk.OwedRetries {
		due = due || o.isDue()
	}
	return len(tk.OwedRetries) > 0, due
}

func (o *OwedRetry) isDue() bool { return !time.Now().Before(o.nextTry) }

// TakeOwedSnapshots takes the owed snapshots late, if it is time to try. The process
// that serves calls it when the disk has room again. When ctx ends, snapshots that were
// begun are still taken.
func (tk *Taker) TakeOwedSnapshots(ctx context.Context) error {
	tk.owedMu.Lock()
	ids := slices.Collect(maps.Keys(tk.OwedRetries))
	tk.owedMu.Unlock()
	var errs []error
	for _, id := range ids {
		if err := tk.takeOwedSnapshot(ctx, id); err != nil {
			errs = append(errs, fmt.Errorf("mission %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

// takeOwedSnapshot takes the snapshot that one mission is owed. A mission whose
// workspace is gone is owed nothing any more.
func (tk *Taker) takeOwedSnapshot(ctx context.Context, id string) error {
	tk.owedMu.Lock()
	o := tk.OwedRetries[id]
	if o == nil || !o.isDue() {
		tk.owedMu.Unlock()
		return nil
	}
	o.retryWait = min(max(2*o.retryWait, minRetryWait), maxRetryWait)
	o.nextTry = time.Now().Add(o.retryWait)
	patient := o.retryWait < maxRetryWait
	tk.owedMu.Unlock()
	m, err := tk.MissionByID(id)
	if err == nil {
		_, err = tk.SubmitRequest(ctx, m.Project, id, tk.owedSnapshotRequest())
	}
	switch {
	case err == nil, isNoRoomError(err), ctx.Err() != nil: // then it is in the mission's queue
		return nil
	case missions.AsError(err).Kind == missions.KindNotFound, m != nil && m.IsWorkspaceGone(), !patient:
		tk.forgetOwedSnapshot(id)
	}
	return err
}

// owedSnapshotRequest asks for the snapshot that a mission is owed, unless another was
// taken since. In a turn it only keeps what is there now: the moment that it was for
// has passed.
func (tk *Taker) owedSnapshotRequest() *Request {
	r := &Request{}
	r.Prepare = func(m *projects.Mission) (bool, error) {
		tk.owedMu.Lock()
		o := tk.OwedRetries[m.ID]
		var owed OwedRetry
		if o != nil {
			owed = *o
		}
		tk.owedMu.Unlock()
		if o == nil || m.Tip.ID.String() != owed.Tip {
			tk.clearOwedSnapshot(m)
			return false, nil
		}
		if owed.UnnotedLifecycle != nil {
			m.EnterLifecycle(owed.UnnotedLifecycle, tk.Now())
		}
		t := owed.Take
		if t.Late = true; missions.InTurn(m.Lifecycle) {
			t.Trigger, t.Message, t.UserMessage, t.OnlyIfChanged = missions.TriggerWatch, "there is room again", false, true
		}
		r.Take = &t
		return true, nil
	}
	return r
}
