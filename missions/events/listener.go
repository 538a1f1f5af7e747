// Package events takes what agents, editors, Git and the watcher tell: which mission an
// event is of, whether its session is to become a mission, and what it means for it.
package events

import (
	"sync"

	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/handovers"
	"github.com/umbra-vcs/umbra/missions/moves"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/updates"
	"github.com/umbra-vcs/umbra/missions/worktrees"
)

// Listener hears events and turns them into requests of missions.
type Listener struct {
	*projects.Desk
	addresses     *addresses.Finder
	conversations *conversations.Library
	snapshots     *snapshots.Taker
	presence      *presence.Observer
	agents        *agents.Launcher
	handovers     *handovers.Scheduler
	moves         *moves.Mover
	updates       *updates.Courier
	worktrees     *worktrees.Steward

	mu        sync.Mutex
	adoptions map[string]*adoption // by session
}

// New makes a Listener that has heard nothing.
func New(
	d *projects.Desk, a *addresses.Finder, c *conversations.Library, s *snapshots.Taker, p *presence.Observer,
	l *agents.Launcher, h *handovers.Scheduler, mv *moves.Mover, u *updates.Courier, w *worktrees.Steward,
) *Listener {
	return &Listener{
		Desk: d, addresses: a, conversations: c, snapshots: s, presence: p, agents: l, handovers: h, moves: mv, updates: u, worktrees: w,
		adoptions: map[string]*adoption{},
	}
}
