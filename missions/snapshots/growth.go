package snapshots

import (
	"context"
	"errors"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// captureWanted captures the workspace for a snapshot. It returns nil if the snapshot may
// wait: files have only grown, as the log of a server that runs while no agent works. Grown
// says that they have, and that the snapshot does not wait.
func (ws *WorkspaceCache) captureWanted(
	ctx context.Context, m *projects.Mission, w *WantedSnapshot, batch *shadow.Batch,
) (captured *capture.Result, grown bool, err error) {
	ws.putBack = w.PutBack
	defer func() { ws.putBack = nil }()
	if ws.leavesGrowth = w.GrowthMayWait && m.Tip != nil && m.Live.OwedSnapshot == nil; ws.leavesGrowth {
		captured, err = ws.CaptureFiles(ctx, m, batch)
		ws.leavesGrowth = false
		if grown = errors.Is(err, capture.ErrOnlyGrown); !grown {
			return captured, false, err
		}
		if wait := ws.growthWait(m); wait > 0 {
			ws.workspaces.noteGrowth(m.ID, waitingGrowth{ws.Root, ws.workspaces.Now().Add(wait)})
			return nil, true, nil
		}
	}
	captured, err = ws.CaptureFiles(ctx, m, batch)
	return captured, grown, err
}

// maxGrowthWait is the longest time for which files that have only grown need not be stored
// again: what is lost if somebody overwrites such a file meanwhile is no older.
const maxGrowthWait = 15 * time.Minute

// growthWait is for how long files that have only grown need not be stored again yet, 0 if
// they are to be stored now. Each is stored whole, so a snapshot every 30 seconds of a log
// of some MiB fills the disk in a day. The first growth after a change is kept at once, and
// then at twice the time that has passed since that change. The next turn, command or change
// keeps all of it.
func (ws *WorkspaceCache) growthWait(m *projects.Mission) time.Duration {
	if ws.changedAt.IsZero() {
		ws.changedAt = m.Tip.At
	}
	longest := min(m.Tip.At.Sub(ws.changedAt), maxGrowthWait)
	elapsed := max(0, ws.workspaces.Now().Sub(m.Tip.At)) // clocks are set back
	return max(0, longest-elapsed)
}

// waitingGrowth is growth that no snapshot of a mission holds yet.
type waitingGrowth struct {
	root string
	due  time.Time // when a snapshot is to hold it
}

func (wk *Workspaces) noteGrowth(mission string, g waitingGrowth) {
	wk.mu.Lock()
	defer wk.mu.Unlock()
	wk.growth[mission] = g
}

// forgetGrowth is called when a snapshot holds all that a mission's workspace holds.
func (wk *Workspaces) forgetGrowth(mission string) {
	wk.mu.Lock()
	defer wk.mu.Unlock()
	delete(wk.growth, mission)
}

// GrowthWait is for how long growth in a workspace may still wait to be kept. It is false if
// none waits.
func (wk *Workspaces) GrowthWait(root string) (left time.Duration, waits bool) {
	wk.mu.Lock()
	defer wk.mu.Unlock()
	now := wk.Now()
	for _, g := range wk.growth {
		if wait := max(0, g.due.Sub(now)); g.root == root && (!waits || wait < left) {
			left, waits = wait, true
		}
	}
	return left, waits
}

// takeGrowth returns the growth that is to be kept by a time, by mission. It is forgotten: a
// snapshot that waits once more notes it anew.
func (wk *Workspaces) takeGrowth(by time.Time) map[string]waitingGrowth {
	wk.mu.Lock()
	defer wk.mu.Unlock()
	taken := map[string]waitingGrowth{}
	for id, g := range wk.growth {
		if !g.due.After(by) {
			taken[id] = g
			delete(wk.growth, id)
		}
	}
	return taken
}

// KeepDueGrowth keeps the growth that has waited for long enough. It is for the process that
// watches: if nobody writes there again, no rest comes.
func (tk *Taker) KeepDueGrowth(ctx context.Context) error {
	return tk.keepGrowth(ctx, tk.Now(), true)
}

// KeepAllGrowth keeps the growth that waits, before the process stops that knows of it.
func (tk *Taker) KeepAllGrowth(ctx context.Context) error {
	return tk.keepGrowth(ctx, tk.Now().Add(maxGrowthWait), false)
}

// keepGrowth keeps the growth that is to be kept by a time. Where the snapshot may wait it
// is known to be one of growth, so that the next waits longer.
func (tk *Taker) keepGrowth(ctx context.Context, by time.Time, mayWait bool) error {
	var errs []error
	for id, g := range tk.takeGrowth(by) {
		for _, m := range tk.LiveMissionsIn(g.root) {
			if m.ID != id {
				continue
			}
			take := &missions.TakeSnapshot{Trigger: missions.TriggerWatch, Message: "files changed", OnlyIfChanged: true, GrowthMayWait: mayWait}
			_, err := tk.SubmitRequest(ctx, m.Project, m.ID, &Request{Take: take})
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
