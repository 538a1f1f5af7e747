package missions

import (
	"context"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/sessions"
)

// beside reports whether an event comes from a second agent on a conversation of the
// mission's: from another process than the mission's agent, which lives. Under a keeper
// that agent is one to which the mission was given, and until it has named its process
// it is whichever speaks: the keeper's child may be a script that starts it.
func (m *loaded) beside(c Caller, e sessions.Event) bool {
	switch {
	case m.live.speaksFrom(e.PID):
		return false
	case !m.live.kept():
		return HasAgent(m.life) && m.anotherProcess(e)
	}
	return c.Mission != m.ID || m.live.Named && m.anotherProcess(e)
}

// hearBeside carries out an event of a second agent. Its turns are not the mission's,
// nor is its end: but what it writes is kept, and its user is told that two speak.
func (l *Local) hearBeside(ctx context.Context, m *loaded, e sessions.Event, result *HookResult) (sessions.Answer, error) {
	what, keeps := saidBeside(e)
	heard := func(m *loaded) (bool, error) {
		if !m.live.firstTime(eventID(e)) {
			return false, nil
		}
		speaks := goesOn(e.Kind) && lock.Process(e.PID, "").Liveness() == lock.Alive
		m.Diverged = (m.Diverged || speaks) && e.Kind != sessions.KindSessionEnd
		return keeps, nil
	}
	answer, err := l.submit(ctx, m.project, m.ID, &request{event: Hinted{What: what}, heard: heard})
	if err != nil {
		return sessions.Answer{}, err
	}
	if t, ok := answer.last(); ok {
		result.Snapshot = t.snapshot.ID.String()
	}
	return sessions.Answer{}, l.leaveBehind(ctx, m, e)
}

// saidBeside is what a snapshot is of that an event of a second agent asks for, and
// whether it asks for one: where the mission's own would.
func saidBeside(e sessions.Event) (what string, keeps bool) {
	switch e.Kind {
	case sessions.KindPrompt:
		return oneLine("prompt of a second agent", e.Prompt), true
	case sessions.KindToolBefore:
		return oneLine("before "+e.Tool.Name+" of a second agent", e.Tool.Target), e.Writes
	case sessions.KindStop, sessions.KindError:
		return "turn of a second agent ended", true
	case sessions.KindSessionEnd:
		return "second agent ended", true
	}
	return "", false
}
