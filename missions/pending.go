package missions

import (
	"context"
	"fmt"
	"strings"
)

// performPending carries out the restore that was queued for the end of the
// turn. Its failure never fails the event that ended the turn: it is shown until
// something is restored or queued again, and told the agent with its next
// prompt. The caller holds the workspace.
func (l *Local) performPending(ctx context.Context, m *loaded) {
	if m.live.Pending == nil {
		return
	}
	r := *m.live.Pending
	m.live.Pending = nil
	if _, err := l.restoreLocked(ctx, m, r); err != nil {
		e := AsError(err)
		m.live.NotRestored = fmt.Sprintf("the restore of %.10s that was queued for the end of the turn was not done: %s", r.Moment, strings.Join(strings.Fields(e.Message), " "))
		if e.Hint != "" {
			m.live.NotRestored += " (" + e.Hint + ")"
		}
		m.Note = "Umbra: " + m.live.NotRestored
		l.log.Warn("queued restore", "mission", m.ID, "moment", r.Moment, "error", err)
		if err := l.writeMeta(ctx, m, "a queued restore was not done"); err != nil {
			l.log.Warn("note it", "mission", m.ID, "error", err)
		}
	}
	l.saveLive(m)
}
