package missions

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// turnGrace is what an agent is given to hear the answer to what it has said or
// asked before it is ended for that, and to show it.
const turnGrace = 300 * time.Millisecond

// performPending carries out what was queued for the end of the turn. Its failure
// never fails the event that ended the turn. An agent that is ended for it is
// ended beside that event, which it waits for. Where somebody looks again, it waits
// until it is known that the agent does not go on. The caller holds the workspace.
func (l *Local) performPending(ctx context.Context, m *loaded) {
	if m.live.Pending == nil || m.live.Handover.open() { // that was asked for later, and decides
		return
	}
	if l.watching != nil && l.afterTurn(m) != atRest {
		return
	}
	a := *m.live.Pending
	m.live.Pending = nil
	h, err := l.beginHandover(ctx, m, a, true)
	switch {
	case h != nil && l.handOverBeside(m, h):
	case h != nil: // the Service is ending: whoever serves next does it
		l.letGo(h)
		m.live.Handover, m.live.Pending = nil, &a
	case err == nil:
		m.live.Pending = &a // until it is done: what a process leaves that is killed is taken up
		_, err = l.carry(ctx, m, a)
		m.live.Pending = nil
	}
	if err != nil {
		l.notDone(ctx, m, a, err)
	}
	l.saveLive(m)
}

// handOverBeside is handOver for something that the agent itself waits for. It
// reports false if the Service is ending.
func (l *Local) handOverBeside(m *loaded, h *handover) bool {
	if !l.startWorker() {
		return false
	}
	go func() {
		defer l.working.Done()
		_ = pause(l.closing, turnGrace)
		if _, _, err := l.handOver(context.Background(), m, h); err != nil {
			l.log.Warn("handover", "mission", m.ID, "for", h.Asked.String(), "error", err)
		}
	}()
	return true
}

// notDone keeps why something queued was not done: it is shown until something is
// restored or queued again, and told the agent with its next prompt. The caller
// holds the workspace.
func (l *Local) notDone(ctx context.Context, m *loaded, a asked, why error) {
	e := AsError(why)
	what := a.kind()
	if a.Restore != nil {
		what = fmt.Sprintf("restore of %.10s", a.Restore.Moment)
	}
	m.live.NotRestored = fmt.Sprintf("the %s that was queued for the end of the turn was not done: %s", what, strings.Join(strings.Fields(e.Message), " "))
	if e.Hint != "" {
		m.live.NotRestored += " (" + e.Hint + ")"
	}
	m.tell(noteUndone, "Umbra: "+m.live.NotRestored)
	l.log.Warn("queued "+a.kind(), "mission", m.ID, "for", a.String(), "error", why)
	if err := l.writeMeta(ctx, m, "a queued "+a.kind()+" was not done"); err != nil {
		l.log.Warn("note it", "mission", m.ID, "error", err)
	}
}
