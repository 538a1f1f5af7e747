package conversations

import (
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// RunsWithoutHooks reports whether the mission's agent was launched without hooks, and none was
// heard since.
func RunsWithoutHooks(m *projects.Mission) bool { return !m.Live.HasHooks && m.Live.Numbering != nil }

// numberTurns has the mission be in the turn that its conversation, which was just counted,
// is in. The turns are those that were read of it.
func (l *Library) numberTurns(m *projects.Mission, turns []sessions.Turn) {
	if !RunsWithoutHooks(m) {
		return
	}
	n, prompts := *m.Live.Numbering, m.Tally.Total.Prompts
	if n.Session != m.Tally.Session || prompts < n.SeenPrompts { // it goes on elsewhere, or its user went back in it
		n = projects.TurnNumbering{Session: m.Tally.Session, Turn: m.Lifecycle.LastTurn(), Prompts: prompts - l.countNewTurns(m, turns)}
	}
	n.SeenPrompts = prompts
	m.Live.Numbering = &n
	m.Lifecycle, _ = missions.Transition(m.Lifecycle, missions.TurnsCounted{Turn: n.Turn + prompts - n.Prompts})
}

// countNewTurns is how many of a conversation's turns have begun since the agent was launched, and
// since the last prompt that is known.
func (l *Library) countNewTurns(m *projects.Mission, turns []sessions.Turn) (n int) {
	for _, turn := range turns {
		if l.IsSinceLaunch(m, turn.At) && (m.LastPrompt == nil || turn.At.After(m.LastPrompt.At)) {
			n++
		}
	}
	return n
}
