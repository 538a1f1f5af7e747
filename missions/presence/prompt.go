package presence

import "github.com/umbra-vcs/umbra/missions/projects"

// HasTakenPrompt reports whether an agent shows that it has taken the prompt of its launch:
// it was heard in a turn, or, where it calls no hooks, has written to its conversation. One
// that calls its hooks may write there before that: Claude Code does when it resumes.
func HasTakenPrompt(m *projects.Mission) bool {
	return m.Live.HeardSinceLaunch || !callsHooks(m) && HasSpokenSinceLaunch(m)
}

// callsHooks reports whether the agent has called a hook since it was launched.
func callsHooks(m *projects.Mission) bool {
	return !m.Live.LastHookAt.IsZero() && !m.Live.LastHookAt.Before(m.Live.LaunchedAt.At)
}

// PutBackPrompt lets go of the prompt of a launch that is over. If the agent has not taken
// the prompt, the next launch sends it.
func PutBackPrompt(m *projects.Mission, taken bool) {
	prompt := m.Live.SentPrompt
	m.HoldSentPrompt("")
	if prompt != "" && !taken {
		m.SetFirstPrompt(prompt)
	}
}
