// Package history tells what there is: log, show, cat, differences, the trail of a
// file, missions and projects, status, and the room they take. It changes nothing.
package history

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/comparisons"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/hooks"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Reader reads missions and their snapshots.
type Reader struct {
	*projects.Desk
	addresses     *addresses.Finder
	conversations *conversations.Library
	snapshots     *snapshots.Taker
	presence      *presence.Observer
	agents        *agents.Launcher
	hooks         *hooks.Installer
	comparisons   *comparisons.Comparer

	// Expiring are the sessions that agents are about to delete. The room of imports hands
	// it in.
	Expiring func(missions.Caller) []missions.ExpiringSessions

	// DailyImport is how sessions are imported by themselves. The room of imports hands it in.
	DailyImport func() *missions.DailyImport
	// Pushes are the remotes that missions are pushed to by themselves. The room of remotes
	// hands it in.
	Pushes func() []missions.AutomaticPush

	// Prunable is what old snapshots take that the policy in force would not keep. The room of
	// prunes hands it in.
	Prunable func(context.Context, missions.Caller) ([]missions.UsageItem, []missions.Problem)

	ByItself
}

// ByItself says what goes by itself. The rooms that have it go hand it in.
type ByItself struct {
	Prunings    func() []missions.Pruning   // of old snapshots: what was dropped, and what will be
	Tightening  func() *missions.Tightening // of old snapshots once there is no room
	TrashExpiry func() *missions.TrashExpiry
	ForkExpiry  func() *missions.ForkExpiry
}

// New makes a Reader.
func New(
	d *projects.Desk, a *addresses.Finder, c *conversations.Library, s *snapshots.Taker, p *presence.Observer, l *agents.Launcher, h *hooks.Installer,
	f *comparisons.Comparer,
) *Reader {
	return &Reader{Desk: d, addresses: a, conversations: c, snapshots: s, presence: p, agents: l, hooks: h, comparisons: f}
}
