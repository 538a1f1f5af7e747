package restores

import (
	"context"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// NoteActionNotDone keeps why something queued was not done: it is shown until something is
// restored or queued again, and told the agent with its next prompt. The caller
// holds the workspace.
func (rs *Restorer) NoteActionNotDone(ctx context.Context, m *projects.Mission, a projects.Action, why error) {
	e := missions.AsError(why)
	what := a.Kind()
	if a.Restore != nil {
		what = fmt.Sprintf("restore of %.10s", a.Restore.Moment)
	}
	m.Live.NotRestoredReason = fmt.Sprintf("the %s that was queued for the end of the turn was not done: %s", what, strings.Join(strings.Fields(e.Message), " "))
	if e.Hint != "" {
		m.Live.NotRestoredReason += " (" + e.Hint + ")"
	}
	snapshots.SetNote(m, snapshots.NoteNotDone, "Umbra: "+m.Live.NotRestoredReason)
	rs.Logger.Warn("queued "+a.Kind(), "mission", m.ID, "for", a.String(), "error", why)
	if err := rs.snapshots.WriteMetaRecord(ctx, m, "a queued "+a.Kind()+" was not done"); err != nil {
		rs.Logger.Warn("note it", "mission", m.ID, "error", err)
	}
}
