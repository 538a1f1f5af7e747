// Package doctor checks the invariants of a home and mends what can be mended. It finishes
// what killed processes left undone, and does the housekeeping. Where a room can say
// itself what is wrong with what it owns, the doctor asks it.
package doctor

import (
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/forks"
	"github.com/umbra-vcs/umbra/missions/handovers"
	"github.com/umbra-vcs/umbra/missions/hooks"
	"github.com/umbra-vcs/umbra/missions/imports"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/prunes"
	"github.com/umbra-vcs/umbra/missions/remotes"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/retires"
	"github.com/umbra-vcs/umbra/missions/searches"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/trash"
)

// Rooms are what the doctor examines.
type Rooms struct {
	Conversations *conversations.Library
	Snapshots     *snapshots.Taker
	Presence      *presence.Observer
	Agents        *agents.Launcher
	Restores      *restores.Restorer
	Handovers     *handovers.Scheduler
	Forks         *forks.Forker
	Hooks         *hooks.Installer
	Remotes       *remotes.Carrier
	Prunes        *prunes.Pruner
	Imports       *imports.Importer
	Bin           *trash.Bin
	Emptier       *trash.Emptier
	Retirer       *retires.Retirer
	Searches      *searches.Searcher
}

// Examiner checks the invariants of a home and mends what can be mended.
type Examiner struct {
	*projects.Desk
	// StartHousekeeper starts a process that calls HousekeepWhenQuiet; nil: whoever serves
	// the home lives long enough to do the housekeeping itself.
	StartHousekeeper func(dir string) error
	rooms            Rooms
}

// New makes an Examiner of the rooms.
func New(d *projects.Desk, r Rooms) *Examiner { return &Examiner{Desk: d, rooms: r} }
