package missions

import "github.com/umbra-vcs/umbra/sessions"

// numbering is how the turns of an agent that was launched without hooks are numbered: the
// prompt after the first Prompts of the session begins the turn after Turn. That is the
// same however often it is asked, so that a snapshot which fails numbers none twice. At the
// launch it is empty.
type numbering struct {
	Session string `json:"session,omitempty"`
	Turn    int    `json:"turn"`
	Prompts int    `json:"prompts"`
	Seen    int    `json:"seen"` // prompts of the session, when it was counted last
}

// unhooked reports whether the mission's agent was launched without hooks, and none was
// heard since.
func (m *loaded) unhooked() bool { return !m.live.Hooked && m.live.Numbering != nil }

// numberTurns has the mission be in the turn that its conversation, which was just counted,
// is in. The turns are those that were read of it.
func (l *Local) numberTurns(m *loaded, turns []sessions.Turn) {
	if !m.unhooked() {
		return
	}
	n, prompts := *m.live.Numbering, m.Talk.Tally.Prompts
	if n.Session != m.Talk.Session || prompts < n.Seen { // it goes on elsewhere, or its user went back in it
		n = numbering{Session: m.Talk.Session, Turn: m.life.LastTurn(), Prompts: prompts - l.newIn(m, turns)}
	}
	n.Seen = prompts
	m.live.Numbering = &n
	m.life, _ = Transition(m.life, Spoken{Turn: n.Turn + prompts - n.Prompts})
}

// newIn is how many of a conversation's turns have begun since the agent was launched, and
// since the last prompt that is known.
func (l *Local) newIn(m *loaded, turns []sessions.Turn) (n int) {
	for _, turn := range turns {
		if l.sinceLaunch(m, turn.At) && (m.LastPrompt == nil || turn.At.After(m.LastPrompt.At)) {
			n++
		}
	}
	return n
}
