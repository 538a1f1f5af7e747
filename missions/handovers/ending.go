package handovers

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/sessions"
)

// ConfirmHandover plans the action once more before the agent is told to end: the agent
// may have begun a turn at a queued prompt, or others may have changed files. It
// returns the mission whose agent is to be ended, or the result of what was done
// instead.
func (s *Scheduler) ConfirmHandover(ctx context.Context, m *projects.Mission, h *projects.Handover) (now *projects.Mission, instead *missions.RestoreResult, err error) {
	err = s.holdFor(h.Action)(ctx, m, func(m *projects.Mission) error {
		now = m
		at := m.Live.Handover
		switch {
		case at == nil || at.ID != h.ID:
			return takenOverError(m, h)
		case at.ToldToEnd:
			return nil
		case missions.InTurn(m.Lifecycle) && !isActionForced(h.Action):
			instead, err = s.postponeHandover(m, h)
			return err
		}
		switches, err := s.switchesConversation(ctx, m, h.Action)
		switch {
		case err != nil:
			s.dropHandover(ctx, m, h, err)
			return err
		case !switches || !m.Live.HasKeeper() && !at.IsLeft():
			instead, err = s.performWithAgentAlive(ctx, m, h)
			return err
		}
		at.ToldToEnd = true
		failpoint.Hit("handover.tell")
		s.SaveLiveState(m)
		failpoint.Hit("handover.told")
		return nil
	})
	return now, instead, err
}

// postponeHandover drops a handover whose agent has begun a turn. An action that was
// queued, or may wait, is queued for the end of this turn.
func (s *Scheduler) postponeHandover(m *projects.Mission, h *projects.Handover) (*missions.RestoreResult, error) {
	m.Live.Handover = nil
	if waits := h.Queued || waitsForTurnEnd(h.Action, m); !waits || m.Live.QueuedRestore != nil {
		s.SaveLiveState(m)
		return nil, restores.InTurnError(m)
	}
	m.Live.QueuedRestore = &h.Action
	s.SaveLiveState(m)
	r := queuedResult(m)
	return &r, nil
}

// performWithAgentAlive carries out an action without ending the agent: it need not be
// ended, or nobody would launch it again.
func (s *Scheduler) performWithAgentAlive(ctx context.Context, m *projects.Mission, h *projects.Handover) (*missions.RestoreResult, error) {
	m.Live.Handover = nil
	s.SaveLiveState(m)
	r, err := s.PerformAction(ctx, m, h.Action)
	if err != nil {
		s.dropHandover(ctx, m, h, err)
		return nil, err
	}
	return &r, nil
}

// takenOverError says that another process has taken the handover over, or that it is
// gone.
func takenOverError(m *projects.Mission, h *projects.Handover) error {
	return missions.Errorf(missions.KindFailed, "umbra log --ops", "another process has taken over: %s of %s", h.String(), m.Name)
}

// EndingBlockReason is why an agent that is about to be ended may not begin a prompt
// or, once it was told to end, a tool; "" if it may.
func (s *Scheduler) EndingBlockReason(m *projects.Mission, e sessions.Event) string {
	h := m.Live.Handover
	if !s.IsHandoverOwned(h) {
		return ""
	}
	ending, next := fmt.Sprintf("Umbra is ending this agent and launches it again in a moment (%s)", h), "type it again then"
	switch {
	case h.Action.EndsTerminal():
		ending, next = fmt.Sprintf("Umbra ends this agent in a moment (%s)", h), "umbra mission resume "+m.Name+" goes on in it"
	case h.Action.PassesTerminal():
		ending = fmt.Sprintf("Umbra passes this terminal on in a moment (%s)", h)
	case m.Live.Headless:
		ending, next = fmt.Sprintf("Umbra is ending this agent (%s), and does not launch it again without a terminal", h), "umbra mission resume "+m.Name
	}
	switch {
	case e.Kind == sessions.KindPrompt:
		return ending + ": " + next
	case e.Kind == sessions.KindToolBefore && h.ToldToEnd:
		return ending
	}
	return ""
}

// dropHandover drops a handover whose agent lives on. The caller holds the workspace.
func (s *Scheduler) dropHandover(ctx context.Context, m *projects.Mission, h *projects.Handover, why error) {
	m.Live.Handover = nil
	if h.Queued || isFromOwnAgent(h.Action, m) { // to wait again would be to try again at once, and without an end
		s.restores.NoteActionNotDone(ctx, m, h.Action, why)
	}
	s.SaveLiveState(m)
}

// endAgent ends the agent's process, and then the process that its keeper has started,
// if it is another: a script that runs on after the agent would keep the terminal. The
// program that a script waits for goes before that.
func (s *Scheduler) endAgent(ctx context.Context, m *projects.Mission, h *projects.Handover) error {
	var err error
	for _, p := range []*lock.Owner{s.presence.WaitedForProcess(m, m.Live.Agent), m.Live.Agent, m.Live.KeeperChild} {
		if p != nil && err == nil {
			err = agents.TerminateProcess(ctx, *p, agents.StopPatience)
		}
	}
	if err == nil {
		failpoint.Hit("handover.ended")
		return nil
	}
	failed := missions.Errorf(missions.KindFailed, "end it in its terminal and try again", "the agent of %s could not be ended: %w", m.Name, err)
	dropped := s.holdFor(h.Action)(ctx, m, func(m *projects.Mission) error {
		if m.Live.Handover == nil || m.Live.Handover.ID != h.ID {
			return nil
		}
		s.dropHandover(ctx, m, h, failed)
		return nil
	})
	if dropped != nil {
		s.Logger.Warn("drop a handover", "mission", m.ID, "error", dropped)
	}
	return failed
}
