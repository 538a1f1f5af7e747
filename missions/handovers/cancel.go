package handovers

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Cancel takes back a restore, undo or redo that waits for the end of a turn.
// KindNotFound if none does, KindBusy if it has begun.
func (s *Scheduler) Cancel(ctx context.Context, r missions.CancelRequest) (c missions.Canceled, err error) {
	m, err := s.addresses.FindMission(ctx, r.Caller, r.Mission, addresses.InProject)
	if err != nil {
		return c, err
	}
	err = s.WithRecoveredMission(ctx, m, func(m *projects.Mission) error {
		waits := m.Live.QueuedRestore
		switch {
		case m.Live.Handover.IsOpen():
			return missions.Errorf(missions.KindBusy, "umbra undo "+m.Name+" takes it back when it is done", "the %s of %s has begun", m.Live.Handover.Action, m.Name)
		case waits == nil:
			return missions.Errorf(missions.KindNotFound, "", "nothing waits for the end of a turn of %s", m.Name)
		}
		c, m.Live.QueuedRestore = missions.Canceled{Mission: m.ID, Name: m.Name, Action: waits.String()}, nil
		s.SaveLiveState(m)
		return nil
	})
	return c, err
}
