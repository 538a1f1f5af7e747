package handovers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// OwnHandover makes this process the owner of a handover, until ReleaseHandover.
func (s *Scheduler) OwnHandover(h *projects.Handover) {
	h.Owner = s.Self
	s.Handovers.Store(h.ID, true)
}

func (s *Scheduler) ReleaseHandover(h *projects.Handover) { s.Handovers.Delete(h.ID) }

// BeginHandover notes that the mission's agent is about to be ended, if the action
// needs that; it returns nil if not. The caller holds the workspace. After it lets the
// workspace go, it calls CarryOutHandover or ReleaseHandover.
func (s *Scheduler) BeginHandover(ctx context.Context, m *projects.Mission, a projects.Action, queued bool) (*projects.Handover, error) {
	if r := a.Restore; !presence.CanRelaunchAgent(m) || r != nil && (r.FilesOnly || len(r.Paths) > 0) {
		return nil, nil // whoever carries it out plans it
	}
	switches, err := s.switchesConversation(ctx, m, a)
	if err != nil || !switches {
		return nil, err
	}
	h := &projects.Handover{ID: s.NewID(), LaunchID: m.Live.LaunchID, Action: a, Queued: queued, TipBefore: m.Tip.ID.String()}
	s.OwnHandover(h)
	m.Live.Handover = h
	failpoint.Hit("handover.begin")
	s.SaveLiveState(m)
	failpoint.Hit("handover.begun")
	return h, nil
}

// CarryOutHandover ends the agent, carries out the action, and lets the keeper launch
// the agent again. If the agent need not be ended any more, it lives on. ctx must not
// end when the caller's request does: a handover is not to be interrupted.
func (s *Scheduler) CarryOutHandover(ctx context.Context, m *projects.Mission, h *projects.Handover) (result missions.RestoreResult, ended bool, err error) {
	defer s.ReleaseHandover(h)
	if instead, err := (terminal{s}).prepareWithAgentAlive(ctx, m, h); err != nil || instead != nil {
		return *cmp.Or(instead, &missions.RestoreResult{}), false, err
	}
	m, instead, err := s.ConfirmHandover(ctx, m, h)
	if err != nil {
		return missions.RestoreResult{}, false, err
	}
	if instead != nil {
		return *instead, false, nil
	}
	missions.Notify(ctx, missions.Notice{Text: "ending the agent of " + m.Name})
	if err := s.endAgent(ctx, m, h); err != nil {
		return missions.RestoreResult{}, false, err
	}
	result, err = s.CompleteHandover(ctx, m, h.ID)
	return result, true, err
}

// CompleteHandover carries out the action that an agent was ended for, and tells the
// keeper.
func (s *Scheduler) CompleteHandover(ctx context.Context, m *projects.Mission, id string) (missions.RestoreResult, error) {
	var result missions.RestoreResult
	a, failed := terminal{s}.prepare(ctx, m, id)
	err := s.holdFor(a)(ctx, m, func(m *projects.Mission) error {
		h := m.Live.Handover
		if !isAtHandover(s.Self, h, id) {
			return takenOverError(m, h)
		}
		if h.Action.PassesTerminal() && m.Live.Agent != nil {
			m.Live.EndedAgent = m.Live.Agent
		}
		m.Live.Agent, m.Live.KeeperChild, m.Live.BoundSession = nil, nil, ""
		if failed == nil && missions.InTurn(m.Lifecycle) && a.Leave == nil { // the agent was ended in it
			failed = s.applyEvent(ctx, m, missions.TurnStopped{})
		}
		if failed == nil {
			result, failed = s.performHandoverAction(ctx, m, h)
			result.NotTakenUp = h.NotTakenUp
		}
		s.endHandover(ctx, m, h, result, failed)
		return nil
	})
	if err == nil {
		return result, failed
	}
	// Not even begun, as in a workspace that is gone: the keeper is not to wait.
	return result, errors.Join(err, s.WithMissionLock(ctx, m, s.WithWorkspaceLock, func(m *projects.Mission) error {
		if h := m.Live.Handover; isAtHandover(s.Self, h, id) {
			s.endHandover(ctx, m, h, result, err)
		}
		return nil
	}))
}

// endHandover notes that the agent may be launched again. Without a keeper nobody
// would, and the handover is dropped. An agent without a terminal has no line in which its
// user sees why the action failed: the mission says it. The caller holds the mission.
func (s *Scheduler) endHandover(ctx context.Context, m *projects.Mission, h *projects.Handover, r missions.RestoreResult, failed error) {
	h.Done, m.Live.Handover = true, h
	if !m.Live.Headless {
		h.Banner = handoverBanner(h, m, r, failed)
		m.Live.Notice = h.Banner
	} else if failed != nil {
		e := missions.AsError(failed)
		failed = missions.Errorf(e.Kind, e.Hint, "%s; the agent was ended for it", e.Message)
	}
	if failed != nil && (h.Queued || m.Live.Headless) {
		s.restores.NoteActionNotDone(ctx, m, h.Action, failed)
	}
	if !m.Live.HasKeeper() {
		m.Live.Handover = nil
	}
	failpoint.Hit("handover.carried")
	s.SaveLiveState(m)
	failpoint.Hit("handover.done")
}

// applyEvent changes the lifecycle, and takes the snapshots that the event asks for.
func (s *Scheduler) applyEvent(ctx context.Context, m *projects.Mission, e missions.Event) error {
	next, effects := missions.Transition(m.Lifecycle, e)
	m.EnterLifecycle(next, s.Now())
	for _, e := range effects {
		if take, ok := e.(missions.TakeSnapshot); ok {
			if _, err := s.snapshots.TakeSnapshot(ctx, m, &snapshots.WantedSnapshot{TakeSnapshot: take, Triggers: missions.Triggers{take.Trigger}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// performHandoverAction carries out the rest of a handover: a process that died may
// have done some of it, or all.
func (s *Scheduler) performHandoverAction(ctx context.Context, m *projects.Mission, h *projects.Handover) (missions.RestoreResult, error) {
	if h.PromptsSnapshot == "" { // the conversation is the one that the agent was ended in
		h.NotTakenUp, h.PromptsSnapshot = s.restores.WaitingPrompts(m), m.Tip.ID.String()
		s.SaveLiveState(m)
	}
	if err := s.restores.RequireRestoresEnded(ctx, m); err != nil {
		return missions.RestoreResult{}, err
	}
	if h.Action.PassesTerminal() {
		return terminal{s}.pass(ctx, m, h)
	}
	last, done, err := handoverOperations(m, h)
	if err != nil {
		return missions.RestoreResult{}, err
	}
	left := h.Action
	if done > 0 {
		if left = remainingAction(left, done); left == (projects.Action{}) {
			target, err := gitstore.ParseID(last.Target)
			if err != nil {
				return missions.RestoreResult{}, err
			}
			return missions.RestoreResult{
				Target: last.Target, TargetAddress: restores.AddressOfSnapshot(m, target), Mission: m.ID, MissionName: m.Name, Workspace: m.Binding.Workspace, Done: true,
				SafetySnapshot: last.SafetySnapshot, Snapshot: last.Snapshot.ID.String(), SessionID: m.Stored.Session,
				Handover: handoverEnd(m),
			}.WithEmptyLists(), nil
		}
	}
	return s.PerformAction(ctx, m, left)
}

// handoverOperations finds the newest operation of a handover, and counts its
// operations.
func handoverOperations(m *projects.Mission, h *projects.Handover) (last restores.PastOperation, n int, err error) {
	for s, err := range m.Project.Store.Snapshots(m.Tip.ID, shadow.HistoryOptions{}) {
		if err != nil || s.Mission != m.ID || s.ID.String() == h.TipBefore {
			return last, n, err
		}
		op, ok, err := restores.ReadOperation(m, s)
		switch {
		case err != nil:
			return last, n, err
		case ok && op.HandoverID == h.ID:
			if n++; n == 1 {
				last = op
			}
		case ok:
			return last, n, nil
		}
	}
	return last, n, nil
}

// handoverBanner is the line that the user sees before the agent is back.
func handoverBanner(h *projects.Handover, m *projects.Mission, r missions.RestoreResult, failed error) string {
	lost := "what was typed and not sent is lost"
	if len(h.NotTakenUp) > 0 {
		lost += "; " + restores.WaitingPromptsText(h.NotTakenUp, cmp.Or(r.SafetySnapshot, h.PromptsSnapshot))
	}
	if failed != nil {
		return fmt.Sprintf("umbra: %s was not done: %s; the agent goes on as it was, %s", h.Action, strings.Join(strings.Fields(missions.AsError(failed).Message), " "), lost)
	}
	if h.Action.EndsTerminal() {
		return h.Banner
	}
	if h.Next != "" {
		if h.Action.Enter != nil {
			return h.Banner + "\n  " + lost // behind the ways back it would be about these
		}
		return h.Banner + "; " + lost
	}
	did := h.Action.String()
	if kind := h.Action.Kind(); kind != string(missions.TriggerPromote) && kind != string(missions.TriggerMerge) {
		did = h.Action.Kind() + " to " + cmp.Or(r.TargetAddress, fmt.Sprintf("%.10s", r.Target))
	}
	again := "umbra undo"
	if h.Action.Undo != nil {
		again = "umbra redo"
	}
	return fmt.Sprintf("umbra: %s; %s; to take it back: %s %s", did, lost, again, m.Name)
}
