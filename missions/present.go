package missions

import (
	"context"

	"github.com/umbra-vcs/umbra/gitstore"
)

// presentTree captures a mission's workspace as it is now without publishing
// anything: objects that nothing names are all it leaves.
func (l *Local) presentTree(ctx context.Context, m *loaded) (gitstore.ID, error) {
	var tree gitstore.ID
	err := l.locked(ctx, m, func(m *loaded) error {
		ws, err := l.workspace(ctx, m)
		if err != nil {
			return err
		}
		batch := m.project.store.NewBatch()
		defer batch.Discard()
		captured, err := ws.capture(ctx, m.project.store, batch)
		if err != nil {
			return l.captureFailed(m, err)
		}
		if err := batch.Flush(ctx); err != nil {
			ws.giveBack()
			return err
		}
		ws.accept(captured)
		tree = captured.Tree
		return nil
	})
	return tree, err
}
