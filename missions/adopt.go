package missions

import (
	"context"
	"errors"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

// adoption is a mission being made for a session that a hook has told of. It
// goes on when the hook's time is over: the first snapshot of a large workspace
// takes longer than an agent waits.
type adoption struct {
	done  chan struct{} // closed when mission and err are known
	m     *loaded
	err   error
	later []func(context.Context, *loaded) // what was heard meanwhile; nil once done
}

// errAdopting is the answer to a hook that does not wait any longer.
var errAdopting = errors.New("the first snapshot is still being taken")

// sessionKey names a session among those of all agents.
func sessionKey(agent, session string) string { return agent + " " + session }

// adoptSoon makes a mission, or joins the one who makes it already.
func (l *Local) adoptSoon(ctx context.Context, c Caller, n newMission, later func(context.Context, *loaded)) (*loaded, error) {
	if err := l.space.Low(); err != nil {
		return nil, err
	}
	if !l.startWorker() {
		return nil, errClosing
	}
	key := sessionKey(n.agent, n.session)
	l.mu.Lock()
	a := l.adoptions[key]
	if a == nil {
		a = &adoption{done: make(chan struct{})}
		l.adoptions[key] = a
		go l.carryOutAdoption(a, key, n)
	} else {
		l.working.Done()
	}
	l.mu.Unlock()
	return l.awaitAdoption(ctx, c, a, later)
}

// joinAdoption is awaitAdoption for a session that is being adopted, if it is.
func (l *Local) joinAdoption(ctx context.Context, c Caller, key string, later func(context.Context, *loaded)) (m *loaded, joined bool, err error) {
	l.mu.Lock()
	a := l.adoptions[key]
	l.mu.Unlock()
	if a == nil {
		return nil, false, nil
	}
	m, err = l.awaitAdoption(ctx, c, a, later)
	return m, true, err
}

// awaitAdoption waits for the mission that is being made for a session, at most
// as long as a hook may. Where that is not enough it returns errAdopting, and
// later is called when the mission is there, in the order of the calls.
func (l *Local) awaitAdoption(ctx context.Context, c Caller, a *adoption, later func(context.Context, *loaded)) (*loaded, error) {
	limit := time.NewTimer(l.adoptionPatience(ctx, c))
	defer limit.Stop()
	select {
	case <-a.done:
		return a.m, a.err
	case <-limit.C:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-a.done:
		return a.m, a.err
	default:
		a.later = append(a.later, later)
		return nil, errAdopting
	}
}

// adoptionPatience leaves a hook the time to say that it does not wait. In a
// process of its own the hook does the work itself, and has all its time for it.
func (l *Local) adoptionPatience(ctx context.Context, c Caller) time.Duration {
	deadline, limited := ctx.Deadline()
	switch {
	case l.watching == nil && limited:
		return time.Until(deadline)
	case l.watching == nil:
		return time.Hour
	case limited:
		return min(time.Duration(l.configOfAgent(c).Hooks.MaxWait), time.Until(deadline)/2)
	}
	return time.Duration(l.configOfAgent(c).Hooks.MaxWait)
}

// carryOutAdoption makes the mission, then hands in what was heard meanwhile.
func (l *Local) carryOutAdoption(a *adoption, key string, n newMission) {
	defer l.working.Done()
	ctx, cancel := context.WithCancel(l.closing)
	defer cancel()
	m, err := l.create(ctx, n)
	if refuses(err) {
		l.nobodys.refuse(n.root, err, l.now())
	}
	for first := true; ; first = false {
		l.mu.Lock()
		later := a.later
		a.later = nil
		if first {
			a.m, a.err = m, err
		}
		if len(later) == 0 || err != nil {
			delete(l.adoptions, key)
			close(a.done)
			l.mu.Unlock()
			break
		}
		l.mu.Unlock()
		for _, tell := range later {
			tell(ctx, m)
		}
	}
	if err == nil && m.stored.Config == "" {
		l.configLater(ctx, m)
	}
	if err != nil && !refusedRoot(err) {
		l.log.Warn("adopt a session", "agent", n.agent, "session", n.session, "error", err)
	}
}

// hearLate carries out an event whose hook has not waited for its mission.
func (l *Local) hearLate(a sessions.Adapter, r HookRequest, e sessions.Event) func(context.Context, *loaded) {
	return func(ctx context.Context, m *loaded) {
		var result HookResult
		if _, err := l.hear(ctx, m, a, r, e, &result); err != nil {
			l.log.Warn("late event", "agent", r.Agent, "event", e.Name, "mission", m.ID, "error", err)
		}
	}
}
