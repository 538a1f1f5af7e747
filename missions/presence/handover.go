package presence

import (
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// CanRelaunchAgent reports whether the mission has an agent that can be ended, and a
// keeper that would launch it again: one that has told of its start.
func CanRelaunchAgent(m *projects.Mission) bool {
	a := m.Live.Agent
	return missions.HasAgent(m.Lifecycle) && m.Live.HasKeeper() && m.Live.KeeperChild != nil && a != nil && a.Liveness() == lock.Alive
}
