package presence

import (
	"fmt"
	"os"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

func NewMissingHooks(m *projects.Mission, why string) *projects.MissingHooks {
	u := &projects.MissingHooks{Reason: why, Session: m.Stored.Session}
	if m.Tally != nil {
		u.Prompts = m.Tally.Total.Prompts
	}
	return u
}

// IsWithoutHooks reports whether a snapshot is of an agent that was launched without hooks;
// false where that is lost.
func IsWithoutHooks(p *projects.Project, s *gitstore.Snapshot) (bool, error) {
	info, err := p.ReadSnapshotInfo(s)
	if projects.IsObjectLost(err) {
		return false, nil
	}
	return info.WithoutHooks, err
}

// promptedSinceLaunch reports whether the conversation has a prompt since the launch. In a
// conversation that was begun since, each prompt is one.
func promptedSinceLaunch(u *projects.MissingHooks, m *projects.Mission) bool {
	switch {
	case m.Tally == nil:
		return false
	case m.Stored.Session == u.Session:
		return m.Tally.Total.Prompts > u.Prompts
	}
	return m.Tally.Session == m.Stored.Session && m.Tally.Total.Prompts > 0
}

// missingHooksProblem is what is wrong with a live agent that was launched without hooks and
// has been prompted since: its user is to know that snapshots are missing. It is "" if
// nothing is wrong any more, as when the user has trusted the hooks at the agent's start.
func (o *Observer) missingHooksProblem(m *projects.Mission) string {
	if missions.HasAgent(m.Lifecycle) && RunsWithoutGivenHooks(m) {
		return fmt.Sprintf("no snapshot is taken before a prompt or tool, since its agent calls none of the hooks that it was given: "+
			"its settings may name one that it does not know (umbra hooks status %s); mend that, end it, then: umbra mission resume %s", m.Agent, m.Name)
	}
	u := m.Live.MissingHooks
	if u == nil || !missions.HasAgent(m.Lifecycle) || !promptedSinceLaunch(u, m) {
		return ""
	}
	said, why := "no snapshot is taken before a prompt or tool, since its agent runs without hooks", u.Reason
	if m.Live.HasHooks {
		said, why = "snapshots before prompts or tools are missing, since its agent runs without some of its hooks", o.distrustReason(m)
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf("%s: %s; then end it, and: umbra mission resume %s", said, why, m.Name)
}

// HasSpokenSinceLaunch reports whether the agent has written to its conversation since it
// was launched.
func HasSpokenSinceLaunch(m *projects.Mission) bool {
	if m.Binding.SessionPath == "" {
		return false
	}
	info, err := os.Stat(m.Binding.SessionPath)
	return err == nil && info.Size() > 0 && !info.ModTime().Before(m.Live.LaunchedAt.At)
}

// RunsWithoutGivenHooks reports whether an agent has spoken in its conversation and called
// none of the hooks that its launch gave it: Claude Code 2.0 drops settings whole that
// name a hook which it does not know.
func RunsWithoutGivenHooks(m *projects.Mission) bool {
	return m.Live.HasHooks && m.Live.LaunchID != "" && !m.Live.LaunchedAt.At.IsZero() &&
		m.Live.LastHookAt.Before(m.Live.LaunchedAt.At) && HasSpokenSinceLaunch(m)
}

// distrustReason is why a mission's agent does not run all the hooks of its user; "" if no
// reason is known.
func (o *Observer) distrustReason(m *projects.Mission) string {
	t, ok := o.Adapter(m.Agent).(sessions.Truster)
	if !ok {
		return ""
	}
	env := m.AdapterEnv()
	return t.Distrusted(env, t.HookFile(env, sessions.ScopeUser, ""), func(name string) ([]byte, error) {
		return os.ReadFile(projects.AbsolutePath(m.Cwd(), name))
	})
}
