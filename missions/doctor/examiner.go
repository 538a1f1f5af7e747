// Package doctor checks the invariants of a home and mends what can be mended; and it does
// the housekeeping. Each room says itself what is wrong with what it owns, where it can.
package doctor

import (
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/forks"
	"github.com/umbra-vcs/umbra/missions/handovers"
	"github.com/umbra-vcs/umbra/missions/hooks"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/trash"
)

// Rooms are what the doctor examines.
type Rooms struct {
	Addresses     *addresses.Finder
	Conversations *conversations.Library
	Snapshots     *snapshots.Taker
	Presence      *presence.Observer
	Agents        *agents.Launcher
	Restores      *restores.Restorer
	Handovers     *handovers.Scheduler
	Trash         *trash.Bin
	Forks         *forks.Forker
	Hooks         *hooks.Installer
}

// Examiner checks the invariants of a home and mends what can be mended.
type Examiner struct {
	*projects.Desk
	addresses     *addresses.Finder
	conversations *conversations.Library
	snapshots     *snapshots.Taker
	presence      *presence.Observer
	agents        *agents.Launcher
	restores      *restores.Restorer
	handovers     *handovers.Scheduler
	trash         *trash.Bin
	forks         *forks.Forker
	hooks         *hooks.Installer
}

// New makes an Examiner of the rooms.
func New(d *projects.Desk, r Rooms) *Examiner {
	return &Examiner{
		Desk: d, addresses: r.Addresses, conversations: r.Conversations, snapshots: r.Snapshots, presence: r.Presence,
		agents: r.Agents, restores: r.Restores, handovers: r.Handovers, trash: r.Trash, forks: r.Forks, hooks: r.Hooks,
	}
}
