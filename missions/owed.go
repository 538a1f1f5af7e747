package missions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// debt is a snapshot that was asked for and not taken, for want of room. It is part of
// what is known of a mission beyond its record: whichever process serves pays.
type debt struct {
	Take Take   `json:"take"`
	Tip  string `json:"tip"` // the mission's newest snapshot then
}

// owing is what the process that serves knows of a debt.
type owing struct {
	debt
	unnoted Lifecycle     // what the mission had come to, if that could not be noted
	next    time.Time     // it is not tried before
	wait    time.Duration // until it is tried once more
}

// A debt that can't be paid is tried again after a while that grows: one that wants
// room until there is some, any other as long as the while is short.
const (
	leastWait = time.Second
	mostWait  = time.Minute
)

// wantsRoom reports whether an error is that there was no room.
func wantsRoom(err error) bool { return shortOf(err) != "" || isDiskFull(err) }

// debtOf is what a mission is owed if a snapshot was not taken.
func (l *Local) debtOf(m *loaded, t Take) *debt {
	if t.Moment.IsZero() {
		t.Moment = l.now()
	}
	return &debt{Take: t, Tip: m.tip.ID.String()}
}

// paid forgets what a mission is owed, and reports whether that was anything.
func (l *Local) paid(m *loaded) bool {
	known := l.forgetOwed(m.ID)
	owed := known || m.live.Owed != nil
	m.live.Owed = nil
	return owed
}

func (l *Local) forgetOwed(id string) (known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, known = l.owed[id]
	delete(l.owed, id)
	return known
}

// saveOwing is saveLive for a mission that is owed a snapshot, unless that is nil.
func (l *Local) saveOwing(m *loaded, d *debt) {
	if d != nil {
		m.live.Owed = d
	}
	saved := l.saveLive(m)
	if l.watching == nil {
		return // only a process that serves lives long enough to pay
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.owed[m.ID]
	if d != nil && o == nil {
		o = &owing{}
		l.owed[m.ID] = o
	}
	if d != nil {
		o.debt, o.unnoted = *d, m.life
	}
	if o != nil && saved {
		o.unnoted = nil
	}
}

// gatherOwed finds what earlier processes could not pay.
func (l *Local) gatherOwed() {
	ids, err := l.journal.LiveMissions()
	if err != nil {
		l.log.Warn("look for snapshots that there was no room for", "error", err)
	}
	for _, id := range ids {
		raw, err := l.journal.Live(id)
		var noted struct {
			Owed *debt `json:"owed"`
		}
		if err != nil || json.Unmarshal(raw, &noted) != nil || noted.Owed == nil {
			continue
		}
		l.mu.Lock()
		if l.owed[id] == nil {
			l.owed[id] = &owing{debt: *noted.Owed}
		}
		l.mu.Unlock()
	}
}

// Owes reports whether there are snapshots that could not be taken for want of room, be
// it in an earlier process, and whether it is time to try again. It is for the process
// that serves.
func (l *Local) Owes() (some, due bool) {
	l.gathered.Do(l.gatherOwed)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.owed {
		due = due || o.due()
	}
	return len(l.owed) > 0, due
}

func (o *owing) due() bool { return !time.Now().Before(o.next) }

// MakeUp takes, late, the snapshots that could not be taken for want of room, if it is
// time to try. It is called when there is room again, by the process that serves. What
// is not done when ctx ends is done all the same.
func (l *Local) MakeUp(ctx context.Context) error {
	l.mu.Lock()
	ids := slices.Collect(maps.Keys(l.owed))
	l.mu.Unlock()
	var errs []error
	for _, id := range ids {
		if err := l.pay(ctx, id); err != nil {
			errs = append(errs, fmt.Errorf("mission %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

// pay makes up for what a mission is owed. Where its workspace is gone, so is the moment.
func (l *Local) pay(ctx context.Context, id string) error {
	l.mu.Lock()
	o := l.owed[id]
	if o == nil || !o.due() {
		l.mu.Unlock()
		return nil
	}
	o.wait = min(max(2*o.wait, leastWait), mostWait)
	o.next = time.Now().Add(o.wait)
	patient := o.wait < mostWait
	l.mu.Unlock()
	m, err := l.missionByID(id)
	if err == nil {
		_, err = l.submit(ctx, m.project, id, l.payment())
	}
	switch {
	case err == nil, wantsRoom(err), ctx.Err() != nil: // then it is in the mission's queue
		return nil
	case AsError(err).Kind == KindNotFound, m != nil && m.workspaceGone(), !patient:
		l.forgetOwed(id)
	}
	return err
}

// payment is the request that makes up for what a mission is owed then, unless a snapshot
// was taken since. In a turn it is no more than what is there now: the moment that it was
// for has passed.
func (l *Local) payment() *request {
	r := &request{}
	r.heard = func(m *loaded) (bool, error) {
		l.mu.Lock()
		o := l.owed[m.ID]
		var owed owing
		if o != nil {
			owed = *o
		}
		l.mu.Unlock()
		if o == nil || m.tip.ID.String() != owed.Tip {
			l.paid(m)
			return false, nil
		}
		if owed.unnoted != nil {
			m.enter(owed.unnoted, l.now())
		}
		t := owed.Take
		if t.Late = true; InTurn(m.life) {
			t.Trigger, t.What, t.Named, t.OnlyIfChanged = TriggerWatch, "there is room again", false, true
		}
		r.take = &t
		return true, nil
	}
	return r
}
