package agents

import (
	"fmt"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// findSessionFile looks for the conversation of an agent whose hooks did not name it.
func findSessionFile(a sessions.Adapter, m *projects.Mission) {
	if a != nil {
		conversations.FindSessionFile(m, a)
	}
}

// hasTakenPrompt reports whether an agent whose end its keeper reports has taken the prompt
// of its launch. Of an agent that shows nothing, the exit code tells.
func hasTakenPrompt(m *projects.Mission, r missions.KeepRequest) bool {
	showsNothing := m.Binding.SessionPath == "" && !m.Live.HasHooks
	return r.Failed == "" && (presence.HasTakenPrompt(m) || showsNothing && r.ExitCode == 0)
}

// endSummary says in one line what was kept of an agent that has ended, and how to go on.
func (l *Launcher) endSummary(m *projects.Mission, r missions.KeepRequest) string {
	again := "umbra mission resume " + m.Name
	switch turns := m.Lifecycle.LastTurn(); {
	case m.FirstPrompt != "" && r.Failed != "":
		return fmt.Sprintf("%s: its agent was not started, and its prompt is kept; to send it: %s (or umbra mission rm %s)", m.Name, again, m.Name)
	case r.Failed != "":
		return fmt.Sprintf("%s: its agent was not started; to start it: %s (or umbra mission rm %s)", m.Name, again, m.Name)
	case m.FirstPrompt != "":
		return fmt.Sprintf("%s: its agent ended with exit code %d before it took its prompt, which is kept; to send it: %s", m.Name, r.ExitCode, again)
	case presence.RunsWithoutGivenHooks(m):
		return fmt.Sprintf("%s: its agent called none of the hooks that it was given: its files are kept, its turns are not told apart; umbra hooks status %s",
			m.Name, m.Agent)
	case l.Adapter(m.Agent) == nil:
		return fmt.Sprintf("%s: its files are kept; to run it again: %s", m.Name, again)
	default:
		return fmt.Sprintf("%s: %s kept; to go on: %s%s", m.Name, countTurns(turns), again, l.backgroundWords(m))
	}
}

func countTurns(n int) string {
	if n == 1 {
		return "1 turn is"
	}
	return fmt.Sprintf("%d turns are", n)
}

// backgroundWords names the missions that an agent has begun and whose agents live: its
// conversation may go on in one of them.
func (l *Launcher) backgroundWords(m *projects.Mission) (words string) {
	all, _ := l.ProjectMissions(m.Project)
	for _, o := range all {
		if o.StartedBy == m.ID && missions.HasAgent(o.Lifecycle) && !l.presence.IsAgentGone(o) {
			words += "; " + o.Name + ", which it began, goes on"
		}
	}
	return words
}
