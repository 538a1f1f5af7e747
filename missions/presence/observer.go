// Package presence tells whether a mission's agent is there, and whether it works,
// asks or waits; it closes missions whose agent has gone without a word.
package presence

import (
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Observer looks at agents' processes and conversations.
type Observer struct {
	*projects.Desk
	conversations *conversations.Library
	snapshots     *snapshots.Taker

	ProcessLooks *processLooks
}

// New makes an Observer that has seen nothing.
func New(d *projects.Desk, c *conversations.Library, s *snapshots.Taker) *Observer {
	return &Observer{Desk: d, conversations: c, snapshots: s, ProcessLooks: newProcessLooks()}
}
