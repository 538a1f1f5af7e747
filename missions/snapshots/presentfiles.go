package snapshots

import (
	"context"
	"errors"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// CapturePresent captures a mission's workspace as it is now and publishes nothing: no ref
// names the objects that it leaves. The mission comes from ScratchView.
func (wk *Workspaces) CapturePresent(ctx context.Context, m *projects.Mission) (tree gitstore.ID, skipped *documents.SkippedSet, err error) {
	err = wk.HoldWithoutWriting(wk.WithRecoveredWorkspace)(ctx, m, func(m *projects.Mission) error {
		side, err := wk.PresentSide(ctx, m)
		tree, skipped = side.Tree, side.Skipped
		return err
	})
	return tree, skipped, err
}

// ScratchView is a mission for callers that look at its workspace as it is now and
// publish nothing. While nothing may be written in the home, the objects are stored
// elsewhere until done is called.
func (wk *Workspaces) ScratchView(m *projects.Mission) (seen *projects.Mission, done func(), err error) {
	why := wk.Space.CheckRoom()
	if why == nil {
		return m, func() {}, nil
	}
	store, err := m.Project.Store.Scratch()
	if err != nil {
		return nil, nil, missions.Errorf(missions.KindFailed, "set TMPDIR to a directory that can be written to; "+missions.AsError(why).Hint,
			"%w; nor can what is there now be looked at: %s", why, err)
	}
	view := *m
	view.Project = m.Project.Over(store)
	return &view, func() {
		if err := store.Close(); err != nil {
			wk.Logger.Warn("remove what was stored to look at a workspace", "mission", m.ID, "error", err)
		}
	}, nil
}

// HoldWithoutWriting is hold for callers that publish nothing. While nothing may be
// written in the home, what a killed process left undone can't be finished, and a lock
// file that is missing can't be made. Then the workspace is held in this process alone:
// no other process can take the lock either.
func (wk *Workspaces) HoldWithoutWriting(hold projects.HoldFunc) projects.HoldFunc {
	if wk.Space.CheckRoom() == nil {
		return hold
	}
	return func(ctx context.Context, m *projects.Mission, fn func(*projects.Mission) error) error {
		begun := false
		err := wk.WithWorkspaceLock(ctx, m, func(m *projects.Mission) error {
			begun = true
			return fn(m)
		})
		if begun || !cannotMakeLock(err) {
			return err
		}
		order := wk.WorkspaceMutex(m.Binding.Identity.FileIdentity)
		order.Lock()
		defer order.Unlock()
		return fn(m)
	}
}

// cannotMakeLock reports whether a lock file is missing and there is no place for it.
func cannotMakeLock(err error) bool {
	if _, ok := errors.AsType[*lock.FileError](err); !ok {
		return false
	}
	return errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EACCES) || home.IsDiskFull(err)
}

// CaptureWorkspace stores what is on disk, and publishes nothing.
func (wk *Workspaces) CaptureWorkspace(ctx context.Context, m *projects.Mission) (*capture.Result, error) {
	return wk.captureWith(ctx, m, nil)
}

// captureWith is CaptureWorkspace with the files at some paths, whatever rule leaves them
// out. No snapshot holds these yet, so the next capture leaves them out again.
func (wk *Workspaces) captureWith(ctx context.Context, m *projects.Mission, putBack []string) (*capture.Result, error) {
	ws, err := wk.RefreshWorkspace(ctx, m)
	if err != nil {
		return nil, err
	}
	ws.putBack = putBack
	defer func() { ws.putBack = nil }()
	batch := m.Project.Store.NewBatch()
	defer batch.Discard()
	captured, err := ws.CaptureFiles(ctx, m, batch)
	if err != nil {
		return nil, captureError(m, err)
	}
	if err := batch.Flush(ctx); err != nil {
		ws.ReturnCapture()
		return nil, err
	}
	if m.Project.Store.IsScratch() || captured.HoldsAny(putBack) {
		ws.ReturnCapture() // what a scratch holds, or no snapshot will, the next capture must not rely on
	} else {
		ws.AcceptCapture(captured)
	}
	return captured, nil
}
