package missions

import (
	"fmt"
	"path/filepath"

	"github.com/umbra-vcs/umbra/sessions"
)

// away is where an agent's event comes from if that is outside its mission's workspace,
// as after its user has resumed the session in another directory; else "".
func (m *loaded) away(e sessions.Event) string {
	if e.Cwd == "" || !filepath.IsAbs(e.Cwd) || within(m.bind.Workspace, filepath.Clean(e.Cwd)) || within(m.bind.Workspace, resolvedOr(e.Cwd)) {
		return ""
	}
	return e.Cwd
}

// worksAway is what is wrong where a mission's agent was heard last outside of its
// workspace; "" if it was not.
func (m *loaded) worksAway() string {
	switch {
	case m.live.Away == "":
		return ""
	case HasAgent(m.life):
		return fmt.Sprintf("its agent works in %s: what it changes there, outside the mission's workspace, is not kept", m.live.Away)
	}
	return fmt.Sprintf("its agent worked in %s: what it changed there, outside the mission's workspace, was not kept", m.live.Away)
}
