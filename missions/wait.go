package missions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// pollEvery is how often a state is looked at by a process that has no watcher
// to tell it. Reading one costs some hundred microseconds.
const pollEvery = 100 * time.Millisecond

// pause waits, or returns why it need not.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Wait returns when the missions are in one of the states, or one of them is
// if Any is set.
func (l *Local) Wait(ctx context.Context, r WaitRequest) ([]Mission, error) {
	states := r.States
	if len(states) == 0 {
		states = []StateName{StateIdle, StateWaiting, StateClosed, StateError}
	}
	for _, s := range states {
		if !slices.Contains(stateNames[:], s) {
			return nil, Errorf(KindUsage, "use initializing, running, waiting, idle, error or closed", "no state %q", s)
		}
	}
	list, err := l.findMissions(ctx, r.Caller, r.Missions)
	if err != nil {
		return nil, err
	}
	for _, m := range list {
		if err := m.bound(); err != nil {
			return nil, err // nothing of it is heard here
		}
	}
	var deadline time.Time
	if r.Timeout > 0 {
		deadline = l.now().Add(r.Timeout)
	}
	for {
		there, not, err := l.sort(ctx, list, states)
		if err != nil || len(not) == 0 || r.Any && len(there) > 0 {
			return there, err
		}
		if !deadline.IsZero() && !l.now().Before(deadline) {
			return there, Errorf(KindTimeout, "", "waited %s: %s", r.Timeout, strings.Join(not, ", "))
		}
		if err := pause(ctx, pollEvery); err != nil {
			return there, err
		}
	}
}

// sort reads the missions afresh and parts them by whether they are in one of
// the states.
func (l *Local) sort(ctx context.Context, list []*loaded, states []StateName) (there []Mission, not []string, err error) {
	there = []Mission{}
	for _, old := range list {
		m, err := l.fresh(ctx, old)
		if err != nil {
			return there, not, err
		}
		v := l.view(m)
		if !InTurn(m.life) && l.engaged(ctx, m) {
			v.State = StateRunning
		}
		if slices.Contains(states, v.State) {
			there = append(there, v)
		} else {
			not = append(not, missed(v))
		}
	}
	return there, not, nil
}

// missed says in which state a mission is instead, and what is to come.
func missed(v Mission) string {
	text := fmt.Sprintf("%s is %s", v.Name, v.State)
	if v.Action != "" {
		text += ", " + v.Action + " is to come"
	}
	return text
}

// fresh reads a mission again, closing it if its agent is gone.
func (l *Local) fresh(ctx context.Context, old *loaded) (*loaded, error) {
	m, err := l.load(old.project, old.ID)
	if err != nil || !l.gone(m) {
		return m, err
	}
	if err := l.reap(ctx, m); err != nil {
		l.log.Warn("close a lost mission", "mission", m.ID, "error", err)
		return m, nil
	}
	return l.load(old.project, old.ID)
}

// findMissions resolves several names; none is the default mission.
func (l *Local) findMissions(ctx context.Context, c Caller, names []string) ([]*loaded, error) {
	if len(names) == 0 {
		names = []string{""}
	}
	var list []*loaded
	for _, name := range names {
		m, err := l.findMission(ctx, c, name, writing)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(o *loaded) bool { return o.ID == m.ID }) {
			list = append(list, m)
		}
	}
	return list, nil
}
