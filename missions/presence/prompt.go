package presence

import "github.com/umbra-vcs/umbra/missions/projects"

// HasTakenPrompt reports whether an agent shows that it has taken the prompt of its launch:
// it was heard in a turn, or has written to its conversation.
func HasTakenPrompt(m *projects.Mission) bool {
	return m.Live.HeardSinceLaunch || HasSpokenSinceLaunch(m)
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
