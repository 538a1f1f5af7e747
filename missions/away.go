package missions

import (
	"fmt"
	"path/filepath"

	"github.com/umbra-vcs/umbra/sessions"
)

// away is what is wrong where an agent's event comes from outside its mission's
// workspace, as after its user has resumed the session in another directory; "" if
// nothing is.
func (m *loaded) away(e sessions.Event) string {
	if e.Cwd == "" || !filepath.IsAbs(e.Cwd) || within(m.bind.Workspace, filepath.Clean(e.Cwd)) || within(m.bind.Workspace, resolvedOr(e.Cwd)) {
		return ""
	}
	return fmt.Sprintf("its agent works in %s: what it changes there, outside the mission's workspace, is not kept", e.Cwd)
}
