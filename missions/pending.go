package missions

import "context"

// performPending carries out the restore that was queued for the end of the
// turn. Its failure is shown by status; it never fails the event that ended the
// turn. The caller holds the workspace.
func (l *Local) performPending(ctx context.Context, m *loaded) {
	if m.live.Pending == nil {
		return
	}
	r := *m.live.Pending
	m.live.Pending = nil
	if _, err := l.restoreLocked(ctx, m, r); err != nil {
		m.live.Problem = "the queued restore of " + r.Moment + " was not done: " + AsError(err).Message
	}
	l.saveLive(m)
}
