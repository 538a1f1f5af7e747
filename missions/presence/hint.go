package presence

import (
	"errors"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// IsWorkspaceHeld reports whether another process has the mission's workspace.
func (o *Observer) IsWorkspaceHeld(m *projects.Mission) bool {
	tree, err := lock.TryTree(o.Home.Dir, m.Binding.Workspace, o.Self)
	if err != nil {
		return errors.Is(err, lock.ErrHeld)
	}
	return tree.Release() != nil
}
