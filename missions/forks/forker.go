// Package forks makes a moment of a mission a new mission, with a live workspace and a
// conversation of its own; and makes a workspace again that was lost.
package forks

import (
	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/trash"
	"github.com/umbra-vcs/umbra/missions/updates"
)

// Forker forks missions.
type Forker struct {
	*projects.Desk
	addresses     *addresses.Finder
	conversations *conversations.Library
	snapshots     *snapshots.Taker
	presence      *presence.Observer
	agents        *agents.Launcher
	trash         *trash.Bin
	updates       *updates.Courier

	SyncForks func([]*fork.Made) (waited int, err error) // fork.Sync, but for tests
}

// New makes a Forker.
func New(
	d *projects.Desk, a *addresses.Finder, c *conversations.Library, s *snapshots.Taker, p *presence.Observer,
	l *agents.Launcher, b *trash.Bin, u *updates.Courier,
) *Forker {
	return &Forker{Desk: d, addresses: a, conversations: c, snapshots: s, presence: p, agents: l, trash: b, updates: u, SyncForks: fork.Sync}
}
