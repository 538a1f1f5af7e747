// Package restores plans a restore, does it, and takes it back: files, conversation, or
// both. When it is done, and what becomes of a live agent, is decided above.
package restores

import (
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Restorer plans and does restores in workspaces that its caller holds.
type Restorer struct {
	*projects.Desk
	conversations *conversations.Library
	snapshots     *snapshots.Taker
	presence      *presence.Observer

	RestoreStep func(name string) error // restore.Work.Step, for tests
}

// New makes a Restorer.
func New(d *projects.Desk, c *conversations.Library, s *snapshots.Taker, p *presence.Observer) *Restorer {
	return &Restorer{Desk: d, conversations: c, snapshots: s, presence: p}
}
