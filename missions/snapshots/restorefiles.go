package snapshots

import (
	"context"

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// PresentSide is what is on disk, captured without publishing anything.
func (tk *Taker) PresentSide(ctx context.Context, m *projects.Mission) (restore.Side, error) {
	captured, err := tk.CaptureWorkspace(ctx, m)
	if err != nil {
		return restore.Side{}, err
	}
	return captureSide(m.Project, captured)
}

// CaptureWorkspace stores what is on disk, and publishes nothing.
func (tk *Taker) CaptureWorkspace(ctx context.Context, m *projects.Mission) (*capture.Result, error) {
	ws, err := tk.RefreshWorkspace(ctx, m)
	if err != nil {
		return nil, err
	}
	batch := m.Project.Store.NewBatch()
	defer batch.Discard()
	captured, err := ws.CaptureFiles(ctx, m.Project.Store, batch, m.Tip)
	if err != nil {
		return nil, tk.captureError(m, err)
	}
	if err := batch.Flush(ctx); err != nil {
		ws.ReturnCapture()
		return nil, err
	}
	if m.Project.Store.IsScratch() {
		ws.ReturnCapture() // what a scratch holds the next capture must not rely on
	} else {
		ws.AcceptCapture(captured)
	}
	return captured, nil
}
