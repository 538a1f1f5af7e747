package missions

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/sessions"
)

// confirm looks once more whether what an agent is ended for can be done, and needs that,
// and notes that it is told to end then: it may have begun a turn since, at a prompt that
// was queued, or others have changed files. It returns the mission whose agent is to be
// ended, or what was done instead.
func (l *Local) confirm(ctx context.Context, m *loaded, h *handover) (now *loaded, instead *RestoreResult, err error) {
	err = l.holding(ctx, m, func(m *loaded) error {
		now = m
		at := m.live.Handover
		switch {
		case at == nil || at.ID != h.ID:
			return takenOver(m, h)
		case at.Told:
			return nil
		case InTurn(m.life) && !h.Asked.force():
			instead, err = l.putOff(m, h)
			return err
		}
		switches, err := l.switches(ctx, m, h.Asked)
		switch {
		case err != nil:
			l.drop(ctx, m, h, err)
			return err
		case !switches || !m.live.kept():
			instead, err = l.carryLiving(ctx, m, h)
			return err
		}
		at.Told = true
		failpoint.Hit("handover.tell")
		l.saveLive(m)
		failpoint.Hit("handover.told")
		return nil
	})
	return now, instead, err
}

// putOff gives up a handover whose agent has begun a turn. What was to be done at the end
// of the turn before, or may wait, is done at the end of that one.
func (l *Local) putOff(m *loaded, h *handover) (*RestoreResult, error) {
	m.live.Handover = nil
	if waits := h.Queued || h.Asked.waits(m); !waits || m.live.Pending != nil {
		l.saveLive(m)
		return nil, inTurn(m)
	}
	m.live.Pending = &h.Asked
	l.saveLive(m)
	r := m.queued()
	return &r, nil
}

// carryLiving carries out what an agent was to be ended for and need not, or can't, since
// nobody would launch it again. What is refused of it says why.
func (l *Local) carryLiving(ctx context.Context, m *loaded, h *handover) (*RestoreResult, error) {
	m.live.Handover = nil
	l.saveLive(m)
	r, err := l.carry(ctx, m, h.Asked)
	if err != nil {
		l.drop(ctx, m, h, err)
		return nil, err
	}
	return &r, nil
}

// takenOver is the error of a handover that is another process's by now, or nobody's.
func takenOver(m *loaded, h *handover) error {
	return Errorf(KindFailed, "umbra log --ops", "another process has taken over: %s of %s", h.String(), m.Name)
}

// endingBlocks is why a prompt, or a tool once the agent is told to end, is not let begin
// in an agent that is about to be ended; "" lets it.
func (l *Local) endingBlocks(m *loaded, e sessions.Event) string {
	h := m.live.Handover
	if !l.owned(h) {
		return ""
	}
	ending := fmt.Sprintf("Umbra is ending this agent and launches it again in a moment (%s)", h)
	switch {
	case e.Kind == sessions.KindPrompt:
		return ending + ": type it again then"
	case e.Kind == sessions.KindToolBefore && h.Told:
		return ending
	}
	return ""
}

// drop gives up a handover whose agent lives on. The caller holds the workspace.
func (l *Local) drop(ctx context.Context, m *loaded, h *handover, why error) {
	m.live.Handover = nil
	if h.Queued || h.Asked.inside(m) { // to wait again would be to try again at once, and without an end
		l.notDone(ctx, m, h.Asked, why)
	}
	l.saveLive(m)
}

// endAgent ends the agent's process, then that which its keeper has started, if
// it is another: a script that goes on after it would keep the terminal.
func (l *Local) endAgent(ctx context.Context, m *loaded, h *handover) error {
	var err error
	for _, p := range []*lock.Owner{m.live.Agent, m.live.Child} {
		if p != nil && err == nil {
			err = terminate(ctx, *p, stopPatience)
		}
	}
	if err == nil {
		failpoint.Hit("handover.ended")
		return nil
	}
	failed := Errorf(KindFailed, "end it in its terminal and try again", "the agent of %s could not be ended: %w", m.Name, err)
	dropped := l.holding(ctx, m, func(m *loaded) error {
		if m.live.Handover == nil || m.live.Handover.ID != h.ID {
			return nil
		}
		l.drop(ctx, m, h, failed)
		return nil
	})
	if dropped != nil {
		l.log.Warn("drop a handover", "mission", m.ID, "error", dropped)
	}
	return failed
}
