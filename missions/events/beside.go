package events

import (
	"context"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// isFromSecondAgent reports whether an event comes from a second agent on a conversation of the
// mission's: from another process than the mission's agent, which lives. Under a keeper
// that agent is one to which the mission was given, and until it has named its process
// it is whichever speaks: the keeper's child may be a script that starts it.
func isFromSecondAgent(m *projects.Mission, c missions.Caller, e sessions.Event) bool {
	switch {
	case m.Live.IsAgentProcess(e.PID):
		return false
	case !m.Live.HasKeeper():
		return missions.HasAgent(m.Lifecycle) && isFromAnotherProcess(m, e)
	}
	return c.Mission != m.ID || m.Live.AgentNamed && isFromAnotherProcess(m, e)
}

// handleSecondAgent carries out an event of a second agent. Its turns are not the mission's,
// nor is its end: but what it writes is kept, and its user is told that two speak.
func (l *Listener) handleSecondAgent(ctx context.Context, m *projects.Mission, e sessions.Event, result *missions.HookResult) (sessions.Answer, error) {
	what, keeps := secondAgentSnapshot(e)
	heard := func(m *projects.Mission) (bool, error) {
		if !m.Live.MarkEventSeen(eventID(e)) {
			return false, nil
		}
		speaks := continuesConversation(e.Kind) && lock.Process(e.PID, "").Liveness() == lock.Alive
		m.Diverged = (m.Diverged || speaks) && e.Kind != sessions.KindSessionEnd
		return keeps, nil
	}
	answer, err := l.snapshots.SubmitRequest(ctx, m.Project, m.ID, &snapshots.Request{Event: missions.HintReceived{What: what}, Prepare: heard})
	if err != nil {
		return sessions.Answer{}, err
	}
	if t, ok := answer.LastSnapshot(); ok {
		result.Snapshot = t.Snapshot.ID.String()
	}
	return sessions.Answer{}, l.closeLeftMissions(ctx, m, e)
}

// secondAgentSnapshot is what a snapshot is of that an event of a second agent asks for, and
// whether it asks for one: where the mission's own would.
func secondAgentSnapshot(e sessions.Event) (what string, keeps bool) {
	switch e.Kind {
	case sessions.KindPrompt:
		return missions.OneLine("prompt of a second agent", e.Prompt), true
	case sessions.KindToolBefore:
		return missions.OneLine("before "+e.Tool.Name+" of a second agent", e.Tool.Target), e.Writes
	case sessions.KindStop, sessions.KindError:
		return "turn of a second agent ended", true
	case sessions.KindSessionEnd:
		return "second agent ended", true
	}
	return "", false
}
