package missions

import "fmt"

// unheard is why an agent was launched without hooks, and how many prompts its
// conversation had then. The launch says it too, but on the screen that the agent takes.
type unheard struct {
	Why     string `json:"why"`
	Prompts int    `json:"prompts,omitempty"`
}

func (m *loaded) launchedUnheard(why string) *unheard {
	u := &unheard{Why: why}
	if t := m.talked(); t != nil {
		u.Prompts = t.Prompts
	}
	return u
}

// unheard is what is wrong with an agent that is live and has been spoken to, of which
// no hook was heard: its user is to know that nothing was saved before. "" if one was, as
// of an agent that asks at its start whether its hooks are to be trusted.
func (m *loaded) unheard() string {
	u, t := m.live.Unheard, m.talked()
	if u == nil || m.live.Hooked || !HasAgent(m.life) || t == nil || t.Prompts <= u.Prompts {
		return ""
	}
	return fmt.Sprintf("no snapshot is taken before a prompt or tool, since its agent runs without hooks: %s; then end it, and: umbra mission resume %s", u.Why, m.Name)
}
