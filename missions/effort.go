package missions

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// A command that Umbra does not know tells nothing of its turns. It counts as at
// work while its processes use an effortShare of a processor, or its terminal was
// written to in the last spokenFor: quiet files alone say nothing of one that
// computes, downloads or waits for a model.
const (
	effortShare = 0.05
	spokenFor   = 10 * time.Second
	// rouseAfter is the least time over which one that waits is judged: a short
	// command typed in a shell is no turn.
	rouseAfter = 10 * time.Second
)

// looks are what was last seen of the processes of missions, by their ids. It is
// safe for concurrent use.
type looks struct {
	mu    sync.Mutex
	last  map[string]look
	works map[string]bool // what came of the last one, and of what else was asked
}

type look struct {
	at     time.Time
	effort lock.Effort
	atWork bool
	rests  time.Time // since when it was not
}

// silent reports whether processes with a terminal have done nothing, and not written to
// it, for long.
func (l look) silent() bool {
	return !l.atWork && !l.effort.Spoke.IsZero() && l.at.Sub(l.rests) >= silentFor
}

func newLooks() *looks { return &looks{last: map[string]look{}, works: map[string]bool{}} }

// share is how much of a processor was used since the look before, 0 if there was
// none.
func (l look) share(before look) float64 {
	passed := l.at.Sub(before.at)
	if before.at.IsZero() || passed <= 0 {
		return 0
	}
	return float64(l.effort.Time-before.effort.Time) / float64(passed)
}

// recent reports whether at is less than that long ago; a time to come, as after a
// clock was set back, is not.
func recent(now, at time.Time, than time.Duration) bool {
	passed := now.Sub(at)
	return passed >= 0 && passed < than
}

// take looks at the processes of a mission; before is the last look. False if they
// can't be seen.
func (l *looks) take(m *loaded, now time.Time) (this, before look, ok bool) {
	child := m.live.Child
	if child == nil {
		child = m.live.Agent
	}
	if ok = child != nil && child.Liveness() == lock.Alive; ok {
		this.at = now
		this.effort, ok = lock.EffortOf(child.PID)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !ok {
		delete(l.last, m.ID)
		return look{}, look{}, false
	}
	before = l.last[m.ID]
	this.atWork = this.effort.Active || this.share(before) >= effortShare || recent(now, this.effort.Spoke, spokenFor)
	if this.rests = before.rests; this.atWork || this.rests.IsZero() {
		this.rests = now
	}
	l.last[m.ID] = this
	return this, before, true
}

// judge remembers whether a mission's agent works.
func (l *looks) judge(id string, works bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if works {
		l.works[id] = true
	} else {
		delete(l.works, id)
	}
}

// worked is what was judged last.
func (l *looks) worked(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.works[id]
}

// of is what was seen of a mission last; zero if nothing was.
func (l *looks) of(id string) look {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last[id]
}

// wordless reports whether a mission's agent tells nothing of its turns, neither
// by hooks nor by a conversation.
func (l *Local) wordless(m *loaded) bool { return !m.live.Hooked && l.adapter(m.Agent) == nil }

// paused is what quiet files mean for a mission: that it only pauses, if its agent has
// no hooks and works.
func (l *Local) paused(m *loaded, saw Observation) Observation {
	if saw != SawQuiet || !InTurn(m.life) || m.live.Hooked {
		return saw
	}
	works := l.works(m)
	l.looks.judge(m.ID, works)
	if works {
		return sawPause
	}
	return saw
}

// AtWork reports whether an agent in a workspace was at work at the last look, or may
// come to an end that nothing tells of: then it is to be looked at again.
func (l *Local) AtWork(root string) bool {
	return slices.ContainsFunc(l.liveIn(root), func(m *loaded) bool { return l.afterTurn(m) != atRest || l.toBeLookedAt(m) })
}

// toBeLookedAt reports whether a turn's end may have to be found by a look.
func (l *Local) toBeLookedAt(m *loaded) bool {
	if !InTurn(m.life) {
		return false
	}
	if !m.live.Hooked {
		return l.looks.worked(m.ID)
	}
	if l.sinceHeard(m) < afterHook {
		return false
	}
	over, soon := l.overUnheard(m, l.attention(m))
	return over || soon
}

// LookAgain is Observe of SawQuiet for the agents that were at work at the last
// look, and for no other.
func (l *Local) LookAgain(ctx context.Context, root string) error {
	if err := l.lookAfterTurns(ctx, root); err != nil {
		return err
	}
	for _, m := range l.liveIn(root) {
		if !l.toBeLookedAt(m) {
			continue
		}
		if err := l.observed(ctx, m, SawQuiet); err != nil {
			return err
		}
	}
	return nil
}

// Rouse is Observe of SawChange for the agents in a workspace that waited for
// their users and have been at work since it was last called, though nothing has
// changed there.
func (l *Local) Rouse(ctx context.Context, root string) error {
	if err := l.lookAfterTurns(ctx, root); err != nil {
		return err
	}
	for _, m := range l.liveIn(root) {
		now := l.now()
		if InTurn(m.life) || !l.wordless(m) || recent(now, l.looks.of(m.ID).at, rouseAfter) {
			continue
		}
		this, before, ok := l.looks.take(m, now)
		if !ok || this.share(before) < effortShare {
			continue
		}
		if err := l.observed(ctx, m, SawChange); err != nil {
			return err
		}
	}
	return nil
}
