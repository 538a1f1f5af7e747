package presence

import (
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// startLimit is how long an agent may take to start and take up the prompt of its launch.
// One that takes longer shows a question: whether a directory is trusted, who logs in.
const startLimit = 5 * time.Minute

// LastSign is when the agent of a side fork gave a sign last, and whether it works now: it is
// in a turn and waits for no answer, or is about to take up the prompt that it was sent.
func LastSign(m *projects.Mission, now time.Time) (at time.Time, works bool) {
	launched := projects.WallTime(m.Live.LaunchedAt.At)
	starts := m.Live.SentPrompt != "" && !HasTakenPrompt(m) && projects.WallTime(now).Sub(launched) < startLimit
	return latest(m.Live.StateSince, m.Live.LastHookAt, launched), starts || missions.StateOf(m.Lifecycle) == missions.StateRunning
}

func latest(times ...time.Time) (last time.Time) {
	for _, at := range times {
		if at.After(last) {
			last = at
		}
	}
	return last
}

// IdleEnd is when a side fork is ended whose user was asked whether it goes on: zero if nobody
// was, if somebody has answered, or while its agent works.
func (o *Observer) IdleEnd(m *projects.Mission) time.Time {
	parent := o.ParkedParent(m)
	if parent == nil {
		return time.Time{}
	}
	claim := parent.Live.SideFork
	asked := claim.UnansweredSince(m)
	agent, works := LastSign(m, o.Now())
	if asked.IsZero() || works {
		return time.Time{}
	}
	return latest(asked, agent).Add(claim.IdleTimeout)
}
