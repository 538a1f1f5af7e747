// Package presence tells whether a mission's agent is there, and whether it works,
// asks or waits; it closes missions whose agent has gone without a word.
package presence

import (
	"errors"
	"os"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/updates"
)

// Observer looks at agents' processes and conversations.
type Observer struct {
	*projects.Desk
	conversations *conversations.Library
	snapshots     *snapshots.Taker
	updates       *updates.Courier

	ProcessLooks *processLooks
}

// New makes an Observer that has seen nothing.
func New(d *projects.Desk, c *conversations.Library, s *snapshots.Taker, u *updates.Courier) *Observer {
	return &Observer{Desk: d, conversations: c, snapshots: s, updates: u, ProcessLooks: newProcessLooks()}
}

// RemoveLaunchFiles removes the files of the launch of an agent that has ended: its settings
// may hold secrets.
func (o *Observer) RemoveLaunchFiles(m *projects.Mission) {
	if err := os.RemoveAll(o.LaunchDir(m)); err != nil {
		o.Logger.Warn("take away what a launch had", "mission", m.ID, "error", err)
	}
}

// LaunchDir is where files for a mission's launch are.
func (o *Observer) LaunchDir(m *projects.Mission) string {
	return o.Home.Path("agents", "launch", m.ID)
}

// IsWorkspaceHeld reports whether another process has the mission's workspace.
func (o *Observer) IsWorkspaceHeld(m *projects.Mission) bool {
	tree, err := lock.TryTree(o.Home.Dir, m.Binding.Workspace, o.Self)
	if err != nil {
		return errors.Is(err, lock.ErrHeld)
	}
	return tree.Release() != nil
}
