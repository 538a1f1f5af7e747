package presence

import (
	"time"

	"github.com/umbra-vcs/umbra/missions/projects"
)

// IdleEnd is when a side fork is ended whose user was asked whether it goes on, zero if nobody
// was, or a prompt has answered.
func (o *Observer) IdleEnd(m *projects.Mission) time.Time {
	parent := o.ParkedParent(m)
	if parent == nil {
		return time.Time{}
	}
	claim := parent.Live.SideFork
	asked := claim.UnansweredSince(m)
	if asked.IsZero() {
		return asked
	}
	return asked.Add(claim.IdleTimeout)
}
