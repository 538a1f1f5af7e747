package snapshots

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// captureWanted captures the workspace for a snapshot. It returns nil if the snapshot may
// wait: files have only grown, as the log of a server that runs while no agent works. Grown
// says that they have, and that the snapshot does not wait.
func (ws *WorkspaceCache) captureWanted(ctx context.Context, m *projects.Mission, w *WantedSnapshot, batch *shadow.Batch) (captured *capture.Result, grown bool, err error) {
	if ws.leavesGrowth = w.GrowthMayWait && m.Tip != nil && m.Live.OwedSnapshot == nil; ws.leavesGrowth {
		captured, err = ws.CaptureFiles(ctx, m, batch)
		ws.leavesGrowth = false
		if grown = errors.Is(err, capture.ErrOnlyGrown); !grown {
			return captured, false, err
		}
		if ws.mayGrowthWait(m) {
			return nil, true, nil
		}
	}
	captured, err = ws.CaptureFiles(ctx, m, batch)
	return captured, grown, err
}

// mayGrowthWait tells whether files that have only grown need not be stored again yet. Each
// is stored whole, so a snapshot every 30 seconds of a log of some MiB fills the disk in a
// day. The first growth after a change is kept at once, and then at twice the time that has
// passed since that change. The next turn, command or change keeps all of it.
func (ws *WorkspaceCache) mayGrowthWait(m *projects.Mission) bool {
	if ws.changedAt.IsZero() {
		ws.changedAt = m.Tip.At
	}
	return ws.workspaces.Now().Sub(m.Tip.At) < m.Tip.At.Sub(ws.changedAt)
}
