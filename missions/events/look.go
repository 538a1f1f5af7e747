package events

import (
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// Look is what is known of a mission when somebody looks whether its agent works: all that
// InterpretLook may look at. There are three signals, in this order: the agent's hooks; its
// process and its transcript; and that nothing changes any more.
type Look struct {
	Saw       missions.Observation
	HasHooks  bool // the agent reports by hooks, and Umbra knows the agent
	Lifecycle missions.Lifecycle

	// What follows is only asked of an agent with hooks, in a turn, when all is quiet.

	Shown      turnEnding     // how the turn ended, as the transcript shows; empty while the agent says that it works
	Waits      bool           // the agent says that it has waited for its user since the turn began
	HookIsLost bool           // the transcript has shown the turn's end for a while, and no hook came
	Question   missions.Event // what the agent says of its questions
}

// InterpretLook says what a look means for a mission, nil for nothing. An agent with hooks
// reports the end of its turn itself, but not on Esc, an error of the API or a kill: then
// the transcript shows it.
func InterpretLook(k Look) missions.Event {
	switch {
	case k.Saw == missions.SawPause:
		return missions.PausedWhileWorking{}
	case k.Saw == missions.SawChange && k.HasHooks:
		return nil
	case k.Saw == missions.SawChange:
		return missions.FilesChanged{}
	case !k.HasHooks, !missions.InTurn(k.Lifecycle): // between turns it is a change by somebody else
		return missions.BecameQuiet{}
	case k.Shown.state == sessions.StateInterrupted:
		return missions.TurnStopped{}
	case k.Shown.state == sessions.StateError:
		return k.Shown.failedEvent()
	case k.Waits:
		return k.unreportedEnd()
	case k.HookIsLost:
		return missions.TurnEnded{}
	}
	return k.Question
}

// unreportedEnd is what it means that the agent waits for its user in its turn. If its user
// stops it before it has answered anything, Claude Code takes the prompt back and writes
// nothing. Work after a turn's end may come to nothing, and the hook of the end may be lost.
func (k Look) unreportedEnd() missions.Event {
	if r, _ := k.Lifecycle.(missions.Running); r.Continued || r.Background || k.Shown.state == sessions.StateIdle {
		return missions.TurnEnded{}
	}
	return missions.TurnStopped{}
}

// lookAt gathers what is known of a mission for InterpretLook.
func (l *Listener) lookAt(m *projects.Mission, saw missions.Observation) Look {
	k := Look{Saw: saw, HasHooks: m.Live.HasHooks && l.Adapter(m.Agent) != nil, Lifecycle: m.Lifecycle, Shown: turnEnding{state: sessions.StateEmpty}}
	if saw != missions.SawQuiet || !k.HasHooks || !missions.InTurn(m.Lifecycle) {
		return k
	}
	says := l.presence.AgentAttention(m)
	k.Question = l.reportedQuestion(m, says)
	if l.presence.TrustsBusy(m, says) {
		return k
	}
	k.Shown = l.shownEnding(m)
	k.Waits = !says.Idle.IsZero() && l.IsSinceTurnBegan(m, says.Idle)
	k.HookIsLost, _ = l.presence.TurnOverWithoutHook(m, says)
	return k
}

// shownEnding is what the session file shows of the end of the mission's turn, and empty
// where it shows nothing of that turn.
func (l *Listener) shownEnding(m *projects.Mission) turnEnding {
	said, ok := l.conversations.NewestSessionTurn(m)
	if !ok || !l.presence.IsOfRunningTurn(m, said.Turn, said.ModTime) || said.State == sessions.StateRunning {
		return turnEnding{state: sessions.StateEmpty}
	}
	return turnEnding{said.State, said.Turn.Refusal}
}
