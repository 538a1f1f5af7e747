// Package trash removes missions, brings them back, and empties the trash; and rebinds a
// project whose directory was moved. It removes no snapshot.
package trash

import (
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Bin is the trash of a home.
type Bin struct {
	*projects.Desk
	addresses     *addresses.Finder
	conversations *conversations.Library
	snapshots     *snapshots.Taker
	presence      *presence.Observer
	agents        *agents.Launcher
	restores      *restores.Restorer
}

// New makes a Bin.
func New(d *projects.Desk, a *addresses.Finder, c *conversations.Library, s *snapshots.Taker, p *presence.Observer, l *agents.Launcher, r *restores.Restorer) *Bin {
	return &Bin{Desk: d, addresses: a, conversations: c, snapshots: s, presence: p, agents: l, restores: r}
}
