package handovers

import (
	"context"
	"time"

	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// endingGrace is what an agent is given to hear the answer to what it has said or
// asked before it is ended for that, and to show it.
const endingGrace = 300 * time.Millisecond

// PerformPendingAction carries out what was queued for the end of the turn. Its failure
// never fails the event that ended the turn. An agent that is ended for it is
// ended beside that event, which it waits for. Where somebody looks again, it waits
// until it is known that the agent does not go on. The caller holds the workspace.
func (s *Scheduler) PerformPendingAction(ctx context.Context, m *projects.Mission) {
	if m.Live.QueuedRestore == nil || m.Live.Handover.IsOpen() { // that was asked for later, and decides
		return
	}
	if s.Watching != nil && s.presence.ActivityAfterTurn(m) != presence.AtRest {
		return
	}
	a := *m.Live.QueuedRestore
	m.Live.QueuedRestore = nil
	h, err := s.BeginHandover(ctx, m, a, true)
	switch {
	case h != nil && s.startHandover(m, h):
	case h != nil: // the Service is ending: whoever serves next does it
		s.ReleaseHandover(h)
		m.Live.Handover, m.Live.QueuedRestore = nil, &a
	case err == nil:
		m.Live.QueuedRestore = &a // until it is done: what a process leaves that is killed is taken up
		_, err = s.PerformAction(ctx, m, a)
		m.Live.QueuedRestore = nil
	}
	if err != nil {
		s.restores.NoteActionNotDone(ctx, m, a, err)
	}
	s.SaveLiveState(m)
}

// startHandover is handOver for something that the agent itself waits for. It
// reports false if the Service is ending.
func (s *Scheduler) startHandover(m *projects.Mission, h *projects.Handover) bool {
	if !s.StartWorker() {
		return false
	}
	go func() {
		defer s.Workers.Done()
		_ = projects.Sleep(s.Closing, endingGrace)
		if _, _, err := s.CarryOutHandover(context.Background(), m, h); err != nil {
			s.Logger.Warn("handover", "mission", m.ID, "for", h.Action.String(), "error", err)
		}
	}()
	return true
}
