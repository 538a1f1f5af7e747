// Package handovers decides when a restore, undo or redo is done: now, at the end of the
// agent's turn, or beneath the agent, which is ended and launched again on what was
// restored. How it is done is the business of package restores.
package handovers

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Scheduler does what a user asked to be restored, when its agent lets it.
type Scheduler struct {
	*projects.Desk
	addresses     *addresses.Finder
	conversations *conversations.Library
	snapshots     *snapshots.Taker
	presence      *presence.Observer
	agents        *agents.Launcher
	restores      *restores.Restorer

	// PrepareTerminal does what an action that passes the terminal on needs beforehand, and
	// returns the action with what was found out. The room of side forks hands it in.
	PrepareTerminal func(ctx context.Context, m *projects.Mission, a projects.Action) (projects.Action, error)
	// TakeBack gives a parked mission its files back, where a fork has worked in its
	// workspace. It returns what its user is to read, "" for nothing. The room of side
	// forks hands it in.
	TakeBack func(ctx context.Context, m *projects.Mission, c missions.Caller) (now *projects.Mission, said string, err error)
}

// New makes a Scheduler.
func New(d *projects.Desk, a *addresses.Finder, c *conversations.Library, s *snapshots.Taker, p *presence.Observer, l *agents.Launcher, r *restores.Restorer) *Scheduler {
	return &Scheduler{Desk: d, addresses: a, conversations: c, snapshots: s, presence: p, agents: l, restores: r}
}
