package presence

import (
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// IsOfRunningTurn reports whether a session file that was written to at that time, and its
// newest turn, tell of the turn that runs. That may not be written yet, and the one
// before it have been stopped too: what was said since the prompt counts or, where the
// agent does not tell its prompts' ids, what was written since.
func (o *Observer) IsOfRunningTurn(m *projects.Mission, turn sessions.Turn, written time.Time) bool {
	r, _ := m.Lifecycle.(missions.Running)
	switch {
	case m.LastPrompt == nil:
		return true
	case r.PromptID == "":
		return o.IsSincePrompt(m, written)
	}
	return o.IsSincePrompt(m, turn.End) // and not by its id, which a resumed session gives again
}
