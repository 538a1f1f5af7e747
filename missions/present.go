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
		side, err := l.presentSide(ctx, m)
		tree = side.Tree
		return err
	})
	return tree, err
}
