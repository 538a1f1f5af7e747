//go:build unix

package keeper

import (
	"context"
	"os"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// attend asks the Service, as often as it says, whether anybody is at the agent of a side
// fork, and does what it says: it rings the terminal's bell, or ends the agent. It returns
// when the agent has ended, or nothing is to be looked at any more.
func attend(ctx context.Context, svc missions.Launches, launch missions.Launch, agent *agent) {
	for in := launch.LookIn; in > 0; {
		select {
		case <-agent.done:
			return
		case <-time.After(in):
		}
		look := missions.KeepRequest{
			Mission: launch.Mission.ID, Launch: launch.ID, KeeperPID: os.Getpid(), AgentPID: agent.pid(), Looks: true, TypedAt: agent.typedAt(),
		}
		next, err := svc.Keep(ctx, look)
		if err != nil {
			in = startAgainAtMost // whoever answers next knows what was asked
			continue
		}
		if next.Ring {
			agent.ring()
		}
		if in = next.LookIn; next.Do == missions.DoEnd {
			agent.wasIdle.Store(true)
			agent.end()
		}
	}
}
