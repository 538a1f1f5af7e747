package missions

import "context"

// CancelRequest takes back what waits for the end of a mission's turn.
type CancelRequest struct {
	Caller  Caller `json:"caller"`
	Mission string `json:"mission,omitempty"`
}

// Canceled is what does not happen.
type Canceled struct {
	Mission string `json:"mission"`
	Name    string `json:"name"`
	Action  string `json:"canceled"` // as a mission's pending_action
}

// Cancel takes back a restore, undo or redo that waits for the end of a turn.
// KindNotFound if none does, KindBusy if it has begun.
func (l *Local) Cancel(ctx context.Context, r CancelRequest) (c Canceled, err error) {
	m, err := l.findMission(ctx, r.Caller, r.Mission, writing)
	if err != nil {
		return c, err
	}
	err = l.metaLocked(ctx, m, func(m *loaded) error {
		waits := m.live.Pending
		switch {
		case m.live.Handover.open():
			return Errorf(KindBusy, "umbra undo "+m.Name+" takes it back when it is done", "the %s of %s has begun", m.live.Handover.Asked, m.Name)
		case waits == nil:
			return Errorf(KindNotFound, "", "nothing waits for the end of a turn of %s", m.Name)
		}
		c, m.live.Pending = Canceled{m.ID, m.Name, waits.String()}, nil
		l.saveLive(m)
		return nil
	})
	return c, err
}
