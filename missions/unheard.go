package missions

import (
	"fmt"
	"os"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/sessions"
)

// unheard is why an agent was launched without hooks, and how many prompts the mission's
// conversation had then. The launch says it too, but on the screen that the agent takes.
type unheard struct {
	Why     string `json:"why"`
	Session string `json:"session,omitempty"`
	Prompts int    `json:"prompts,omitempty"`
}

func (m *loaded) launchedUnheard(why string) *unheard {
	u := &unheard{Why: why, Session: m.stored.Session}
	if m.Talk != nil {
		u.Prompts = m.Talk.Tally.Prompts
	}
	return u
}

// unheardAt reports whether a snapshot is of such an agent; false where that is lost.
func (p *project) unheardAt(s *gitstore.Snapshot) (bool, error) {
	info, err := p.snapshotInfo(s)
	if objectLost(err) {
		return false, nil
	}
	return info.Unheard, err
}

// spokenTo reports whether the conversation has a prompt since the launch: one that its
// user has begun since has no other.
func (u *unheard) spokenTo(m *loaded) bool {
	switch {
	case m.Talk == nil:
		return false
	case m.stored.Session == u.Session:
		return m.Talk.Tally.Prompts > u.Prompts
	}
	return m.Talk.Session == m.stored.Session && m.Talk.Tally.Prompts > 0
}

// unheard is what is wrong with an agent that is live and has been spoken to, and was
// launched without hooks: its user is to know that nothing was saved before, or not all.
// "" if nothing is any more, as of an agent that asks at its start whether its hooks are
// to be trusted.
func (l *Local) unheard(m *loaded) string {
	u := m.live.Unheard
	if u == nil || !HasAgent(m.life) || !u.spokenTo(m) {
		return ""
	}
	said, why := "no snapshot is taken before a prompt or tool, since its agent runs without hooks", u.Why
	if m.live.Hooked {
		said, why = "snapshots before prompts or tools are missing, since its agent runs without some of its hooks", l.distrusted(m)
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf("%s: %s; then end it, and: umbra mission resume %s", said, why, m.Name)
}

// distrusted is why a mission's agent does not run all hooks of its user's; "" if nothing
// is known against it.
func (l *Local) distrusted(m *loaded) string {
	t, ok := l.adapter(m.Agent).(sessions.Truster)
	if !ok {
		return ""
	}
	env := m.adapterEnv()
	return t.Distrusted(env, t.HookFile(env, sessions.ScopeUser, ""), func(name string) ([]byte, error) {
		return os.ReadFile(joinPath(m.cwd(), name))
	})
}
