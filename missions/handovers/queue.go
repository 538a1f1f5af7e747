package handovers

import (
	"context"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// queueAction leaves an action to the end of the turn. The caller holds the workspace.
func (s *Scheduler) queueAction(ctx context.Context, m *projects.Mission, a projects.Action) (result missions.RestoreResult, err error) {
	result = missions.RestoreResult{Mission: m.ID, MissionName: m.Name, Workspace: m.Binding.Workspace}.WithEmptyLists()
	switch {
	case a.Restore != nil:
		result.Target = a.Restore.Moment
	case !a.PassesTerminal():
		if a, err = s.addCurrentKnowledge(m, a); err != nil {
			return result, err
		}
	}
	if _, err := s.switchesConversation(ctx, m, a); err != nil {
		return result, err
	}
	if before := m.Live.QueuedRestore; before != nil {
		result.Notes = append(result.Notes, ReplacesText(*before))
	}
	m.Live.QueuedRestore, m.Live.NotRestoredReason, result.Queued = &a, "", true
	s.SaveLiveState(m)
	return result, nil
}

// ReplacesText says that an action which waits for the end of a turn takes another's place.
func ReplacesText(before projects.Action) string {
	return "it takes the place of what was to happen then: " + before.String()
}

// queuedResult is the result of an action that is left for later.
func queuedResult(m *projects.Mission) missions.RestoreResult {
	return missions.RestoreResult{Mission: m.ID, MissionName: m.Name, Workspace: m.Binding.Workspace, Queued: true}.WithEmptyLists()
}

// Cancel drops a restore, undo or redo that waits for the end of a turn. The error is
// KindNotFound if none waits, KindBusy if it has begun.
func (s *Scheduler) Cancel(ctx context.Context, r missions.CancelRequest) (c missions.Canceled, err error) {
	m, err := s.addresses.FindMission(ctx, r.Caller, r.Mission, addresses.InProject)
	if err != nil {
		return c, err
	}
	err = s.WithRecoveredMission(ctx, m, func(m *projects.Mission) error {
		waits := m.Live.QueuedRestore
		switch {
		case m.Live.Handover.IsOpen():
			back := "umbra undo " + m.Name + " takes it back when it is done"
			if m.Live.Handover.Action.PassesTerminal() {
				back = "umbra mission ls --tree shows whose the terminal is then"
			}
			return missions.Errorf(missions.KindBusy, back, "the %s of %s has begun", m.Live.Handover.Action, m.Name)
		case waits == nil:
			return missions.Errorf(missions.KindNotFound, "", "nothing waits for the end of a turn of %s", m.Name)
		}
		c, m.Live.QueuedRestore = missions.Canceled{Mission: m.ID, Name: m.Name, Action: waits.String()}, nil
		s.SaveLiveState(m)
		return nil
	})
	return c, err
}

// PerformPendingAction carries out the action that was queued for the end of the turn.
// Its failure never fails the event that ended the turn. If the agent has to be ended,
// a goroutine does that, since the agent waits for the event. If a watcher calls again
// later, the action waits until the agent is known to be at rest. The caller holds the
// workspace.
func (s *Scheduler) PerformPendingAction(ctx context.Context, m *projects.Mission) {
	if m.Live.QueuedRestore == nil || m.Live.Handover.IsOpen() { // that was asked for later, and decides
		return
	}
	if s.Watching != nil && s.presence.ActivityAfterTurn(m) != presence.AtRest {
		return
	}
	a := *m.Live.QueuedRestore
	if a.Leave != nil && !missions.HasAgent(m.Lifecycle) && m.Live.HasKeeper() {
		return // the keeper asks what is next
	}
	if a.Leave == nil && m.IsWorkspaceGone() {
		return // until that is there again
	}
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

// endingGrace is how long an agent has to hear the answer to its own call, and to show
// it, before it is ended.
const endingGrace = 300 * time.Millisecond

// startHandover carries out a handover in a goroutine, for an action that the agent
// itself waits for. It reports false if the Service is ending.
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
