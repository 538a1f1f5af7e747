package missions

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

// hookGrace is how long an agent must have been busy, and have called no hook, until it
// is believed that it works though its turn has ended: Claude Code is busy until all that
// hooks do at that end is done, and before a hook of Umbra's says that a turn begins.
const hookGrace = 2 * time.Second

// work is what an agent does whose turn has ended.
type work int

const (
	atRest work = iota
	// unsettled is an agent that is at the end of its turn still, or at the beginning of
	// the next, or goes on: it is known in a moment.
	unsettled
	atWork
)

// attention is what the mission's agent says of itself, empty if it says nothing.
func (l *Local) attention(m *loaded) sessions.Attention {
	agent, says := l.adapter(m.Agent).(sessions.Attending)
	if !says {
		return sessions.Attention{}
	}
	process, _ := m.live.process()
	return agent.Attends(m.adapterEnv(), m.stored.Session, process.PID)
}

// afterTurn is what a mission's agent does whose turn has ended: it says so itself, if
// it does. In a turn, and without an agent, it is at rest.
func (l *Local) afterTurn(m *loaded) work {
	if InTurn(m.life) || !HasAgent(m.life) || l.owned(m.live.Handover) {
		return atRest
	}
	return l.afterTurnAs(m, l.attention(m))
}

func (l *Local) afterTurnAs(m *loaded, says sessions.Attention) work {
	switch {
	case !m.live.Hooked && !l.wordless(m) && l.prompted(m):
		return atWork
	case says.Busy.IsZero():
		return atRest
	case l.trusts(m, says):
		return atWork
	}
	return unsettled
}

// prompted reports whether an agent without hooks works at a prompt, as it or its
// conversation says.
func (l *Local) prompted(m *loaded) bool {
	said, ok := l.shownTurn(m)
	return ok && said.state == sessions.StateRunning && l.works(m)
}

// trusts reports whether a mission's agent works that says that it does.
func (l *Local) trusts(m *loaded, says sessions.Attention) bool {
	return !says.Busy.IsZero() && l.sinceHeard(m) >= hookGrace && !recent(l.now(), says.Busy, hookGrace)
}

// goesOnNow has a mission run again whose agent works though its turn has ended.
func (l *Local) goesOnNow(ctx context.Context, m *loaded) error {
	if l.afterTurn(m) != atWork {
		return nil
	}
	return l.goOn(ctx, m, true, func(m *loaded) bool { return l.afterTurn(m) == atWork })
}

// goOn has a mission's turn go on, if it still is to. Seen says that it was seen, and not
// heard.
func (l *Local) goOn(ctx context.Context, m *loaded, seen bool, still func(*loaded) bool) error {
	r := &request{event: WentOn{}}
	r.heard = func(m *loaded) (bool, error) {
		if !still(m) {
			return false, nil
		}
		m.live.Begun = l.instant()
		r.event = WentOn{ID: m.live.PromptID, Seen: seen}
		return true, nil
	}
	_, err := l.submit(ctx, m.project, m.ID, r)
	return err
}

// engaged reports whether a mission's agent works, or may, or is about to be taken
// elsewhere: what it says itself counts, before the end of its turn does that was heard,
// and so does what was to be done at that end. Where nobody looks again it is not
// noted: nobody would note that it has come to rest either.
func (l *Local) engaged(ctx context.Context, m *loaded) bool {
	if InTurn(m.life) {
		return true
	}
	works := l.afterTurn(m)
	if works == atWork && l.watching != nil {
		l.warnOf(m, l.goesOnNow(ctx, m))
	}
	return works != atRest || l.performs(m)
}

// performs reports whether something that was asked for is being done in a mission that
// is in no turn, or about to be: by its keeper, by who is at it, or by the process that
// serves. What nobody does by himself is not waited for.
func (l *Local) performs(m *loaded) bool {
	h := m.live.Handover
	switch {
	case !HasAgent(m.life), m.workspaceGone():
		return false
	case l.owned(h):
		return true
	case h != nil:
		return m.live.kept() && (!m.relievable() || h.open() && l.watching != nil)
	case m.live.Pending == nil:
		return false
	case l.watching != nil:
		return l.home.ReadOnly() == nil
	}
	return l.isElsewhere(m) // a hook is at it
}

func (l *Local) warnOf(m *loaded, err error) {
	if err != nil {
		l.log.Warn("look at an agent that may go on", "mission", m.ID, "error", err)
	}
}

// surely is a mission read again when it is known whether its agent goes on, and why
// that can't be noted: KindBusy where it goes on and nobody looks again.
func (l *Local) surely(ctx context.Context, m *loaded) (*loaded, error) {
	for !InTurn(m.life) {
		works := l.afterTurn(m)
		if works == atRest {
			return m, nil
		}
		var err error
		switch {
		case works == atWork && l.watching == nil:
			err = Errorf(KindBusy, "try again when it is at rest, or with --force", "the agent of %s still works after the end of turn %d", m.Name, m.life.LastTurn())
		case works == atWork:
			err = l.goesOnNow(ctx, m)
		}
		if err = cmp.Or(err, pause(ctx, pollEvery)); err != nil {
			return m, err
		}
		if m, err = l.load(m.project, m.ID); err != nil {
			return m, err
		}
	}
	return m, nil
}

// lookAfterTurns finds out, of the missions in a workspace, which agents go on after
// their turns' end, or after a question, and does what has waited for the others to come
// to rest.
func (l *Local) lookAfterTurns(ctx context.Context, root string) error {
	for _, m := range l.liveIn(root) {
		if err := errors.Join(l.goesOnNow(ctx, m), l.answeredNow(ctx, m)); err != nil {
			return err
		}
		if l.left(m) {
			l.warnOf(m, l.takeUp(ctx, m)) // a busy workspace is looked at again
		}
	}
	return nil
}

// begun notes a prompt, of the user's or of the agent's own.
func (l *Local) begun(m *loaded, e sessions.Event) {
	m.live.TurnOf, m.live.PromptID, m.live.Begun = e.SessionID, e.PromptID, l.instant()
	if e.Kind == sessions.KindPrompt {
		m.live.Prompted = m.live.Begun
	}
}

// continues reports whether an event is work at the prompt of the turn that has ended:
// another tool's hook has kept the agent from stopping.
func (m *loaded) continues(e sessions.Event) bool {
	return (e.Kind == sessions.KindToolBefore || e.Kind == sessions.KindPermission) && !InTurn(m.life) && HasAgent(m.life) &&
		e.PromptID != "" && e.PromptID == m.live.PromptID && e.SessionID == m.live.TurnOf
}

// takeUpTurn has the turn that had ended go on that an event belongs to.
func (l *Local) takeUpTurn(ctx context.Context, m *loaded, e sessions.Event) error {
	if !m.continues(e) {
		return nil
	}
	return l.goOn(ctx, m, false, func(m *loaded) bool { return m.continues(e) })
}
