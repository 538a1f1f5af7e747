package missions

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
)

// wanted is a snapshot to be taken for one or more requests.
type wanted struct {
	Take
	triggers    Triggers
	waiters     []*request
	operation   *operation // what Umbra did by itself, for its own snapshots
	provisional bool       // written, but not published until something differs
	displaced   []displaced
	first       *newMission // a mission begins with it: it is named when its files were read
}

// carryOut applies a batch of requests to a mission under its lock: the events
// one after the other, then the snapshots they ask for, joined where they can
// be.
func (l *Local) carryOut(ctx context.Context, p *project, mission string, batch []*request) {
	fail := func(err error) {
		for _, r := range batch {
			if r.err == nil {
				r.err = err
			}
		}
	}
	m, err := batch[0].seen, error(nil)
	if m == nil {
		m, err = l.load(p, mission)
	}
	if err != nil {
		fail(err)
		return
	}
	if m.bound() == nil && m.workspaceGone() && !slices.ContainsFunc(batch, func(r *request) bool { return !onlyEnds(r.event) }) {
		if err := l.endUnseen(ctx, m, batch); err != nil {
			fail(err)
		}
		return
	}
	hold := l.holding
	if slices.ContainsFunc(batch, func(r *request) bool { return r.event == nil }) {
		hold = l.locked // by hand: no agent waits for it
	}
	err = hold(ctx, m, func(m *loaded) error {
		before, record, problem := m.heard(), m.record, m.live.Problem
		list, after := l.apply(m, batch)
		var owed *debt
		taken := false // the last
		for _, w := range list {
			t, err := l.commit(ctx, m, w)
			taken = err == nil
			if owed = nil; wantsRoom(err) {
				owed = l.debtOf(m, w.Take)
			}
			for _, r := range w.waiters {
				if err != nil {
					r.err = cmp.Or(r.err, err) // the first is the cause of those behind it
					continue
				}
				r.answer.taken = append(r.answer.taken, t)
			}
			if err == nil {
				m.live.Unsaved = ""
			}
		}
		if taken && l.paid(m) && m.live.Problem == problem {
			m.live.Problem = "" // that it was not taken
		}
		if m.heard() != before && m.record == record && m.live.Provisional == "" {
			if err := l.writeMeta(ctx, m, "session"); err != nil {
				l.saveOwing(m, owed) // what was heard is known all the same
				return err
			}
		}
		l.saveOwing(m, owed)
		if err := l.nameAsAsked(ctx, m); err != nil {
			l.log.Warn("name a mission", "mission", m.ID, "error", err)
		}
		if settles(list) {
			if err := l.effects.settle(ctx, m); err != nil {
				l.log.Warn("settle quarantine", "mission", m.ID, "error", err)
			}
		}
		if after.perform {
			l.effects.perform(ctx, m)
		}
		for _, on := range after.automate {
			l.effects.automate(m, on)
		}
		for _, r := range batch {
			r.answer.mission = m
		}
		return nil
	})
	if err != nil {
		fail(err)
	}
}

// onlyEnds reports whether an event ends something that had begun. It is heard
// also where there is nothing left to be captured.
func onlyEnds(e Event) bool {
	switch e.(type) {
	case TurnEnded, TurnFailed, TurnStopped, SessionEnded, Exited, Stopped, Vanished:
		return true
	}
	return false
}

// endUnseen is carryOut for events that only end something, in a workspace that
// is gone: without it no mission there could ever be closed. It takes no
// snapshot, and says so.
func (l *Local) endUnseen(ctx context.Context, m *loaded, batch []*request) error {
	return l.metaHeld(ctx, m, l.holding, func(m *loaded) error {
		_, after := l.apply(m, batch)
		m.live.Problem = AsError(moved(m, "no snapshot was taken at the end")).Message
		if m.live.Provisional == "" {
			if err := l.writeMeta(ctx, m, "ended; its workspace is gone"); err != nil {
				return err
			}
		}
		l.saveLive(m)
		for _, on := range after.automate {
			l.effects.automate(m, on)
		}
		for _, r := range batch {
			r.answer.mission = m
		}
		return nil
	})
}

// effects is what a snapshot causes beyond itself, which what restores and what
// launches agents own. Each is called with the mission's workspace held.
type effects struct {
	settle   func(ctx context.Context, m *loaded) error // looks again at what restores have taken out
	perform  func(ctx context.Context, m *loaded)       // does what was queued for the end of the turn
	automate func(m *loaded, on string)                 // starts the user's command for a change of state
}

// aftermath is what is done when the snapshots have been taken and the state is
// noted.
type aftermath struct {
	perform  bool     // what was queued for the end of the turn
	automate []string // the changes of state that automations are for
}

// heard is what events say of a mission's conversation: it must outlive the
// process, also where no snapshot was asked for.
type heard struct {
	session, path, notes string
	agent, tool, resume  string
	former               int
	diverged             bool
}

func (m *loaded) heard() heard {
	return heard{m.stored.Session, m.bind.Session, fmt.Sprint(m.Notes), m.Agent, m.Tool, fmt.Sprintf("%q", m.Resume), len(m.Sessions), m.Diverged}
}

// apply runs the events through Transition and gathers what they ask for.
func (l *Local) apply(m *loaded, batch []*request) (list []*wanted, after aftermath) {
	now := l.now()
	add := func(r *request, t Take) {
		for _, w := range list[max(0, len(list)-1):] {
			if joins(w.Take, t) {
				w.join(r, t)
				return
			}
		}
		list = append(list, &wanted{Take: t, triggers: Triggers{t.Trigger}, waiters: []*request{r}})
	}
	for _, r := range batch {
		if r.heard != nil {
			ok, err := r.heard(m)
			if err != nil || !ok {
				r.err = err
				continue
			}
		}
		if r.take != nil {
			if s, err := m.answered(r); err != nil || s != nil {
				r.err, r.answer.taken = err, []taken{{snapshot: s}}
				continue
			}
			t := *r.take
			t.Of = m.life
			add(r, t)
			continue
		}
		next, effects := Transition(m.life, r.event)
		m.enter(next, now)
		if State(next) == StateClosed && !l.owned(m.live.Handover) {
			m.live.Handover = nil // no agent is left to be launched again
		}
		for _, e := range effects {
			switch e := e.(type) {
			case Take:
				add(r, e)
			case Perform:
				after.perform = true
			case Automate:
				after.automate = append(after.automate, e.On)
			}
		}
	}
	return list, after
}

// mostAnswers is how many snapshots may have come between one whose answer was
// cut off and the request that asks again.
const mostAnswers = 32

// answered is the snapshot that a request was answered with which is made again,
// nil if there is none. Only the newest are looked at: it was made just before.
func (m *loaded) answered(r *request) (*gitstore.Snapshot, error) {
	if !r.asked || len(r.ids) == 0 {
		return nil, nil
	}
	seen := 0
	for s, err := range m.project.store.Snapshots(m.tip.ID, gitstore.HistoryOptions{}) {
		if seen++; err != nil || seen > mostAnswers || s.Mission != m.ID {
			return nil, err
		}
		info, err := m.project.snapshotInfo(s)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(r.ids, func(id string) bool { return slices.Contains(info.Requests, id) }) {
			return s, nil
		}
	}
	return nil, nil
}

// requests are the ids of what a snapshot answers.
func (w *wanted) requests() []string {
	var ids []string
	for _, r := range w.waiters {
		ids = append(ids, r.ids...)
	}
	return ids
}

// join adds a request to a snapshot. The first one's message stays, unless the
// other says more.
func (w *wanted) join(r *request, t Take) {
	if !w.triggers.Has(t.Trigger) {
		w.triggers = append(w.triggers, t.Trigger)
	}
	w.waiters = append(w.waiters, r)
	w.OnlyIfChanged = w.OnlyIfChanged && t.OnlyIfChanged
	w.Whole = w.Whole || t.Whole
	switch {
	case w.Named: // the user's own words stay
	case t.Named, t.changesState(), t.Trigger == TriggerManual && !w.changesState():
		w.What, w.Named = t.What, t.Named
	}
	if t.changesState() {
		w.Trigger, w.Of = t.Trigger, t.Of
	}
}

// settles reports whether a batch was an idle point, at which what restores
// took away may be looked at again.
func settles(list []*wanted) bool {
	for _, w := range list {
		if !InTurn(w.Of) {
			return true
		}
	}
	return false
}
