package presence

import (
	"slices"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// A command that Umbra does not know reports nothing of its turns. It counts as working
// while its processes use MinWorkShare of a processor, or have written to their terminal in
// the last recentOutputTime. Quiet files are not enough: a command may compute, download or
// wait for a model.
const (
	MinWorkShare     = 0.05
	recentOutputTime = 10 * time.Second
	// MinLookInterval is the least time over which a waiting command is judged: a short
	// command typed in a shell is no turn.
	MinLookInterval = 10 * time.Second
)

// processLooks are the last looks at the processes of missions, by the missions' ids. It is
// safe for concurrent use.
type processLooks struct {
	mu      sync.Mutex
	last    map[string]processLook
	working map[string]bool // whether the agent worked, as was judged last
}

type processLook struct {
	At         time.Time
	effort     lock.Effort
	isWorking  bool
	restsSince time.Time // when the processes stopped working
}

// isSilent reports whether processes with a terminal have neither worked nor written to
// the terminal for maxWorkSilence.
func (l processLook) isSilent() bool {
	return !l.isWorking && !l.effort.Spoke.IsZero() && l.At.Sub(l.restsSince) >= maxWorkSilence
}

func newProcessLooks() *processLooks {
	return &processLooks{last: map[string]processLook{}, working: map[string]bool{}}
}

// CpuShare is how much of a processor was used since the look before, 0 if there was
// none.
func (l processLook) CpuShare(before processLook) float64 {
	passed := l.At.Sub(before.At)
	if before.At.IsZero() || passed <= 0 {
		return 0
	}
	return float64(l.effort.Time-before.effort.Time) / float64(passed)
}

// IsRecent reports whether at is less than that long ago. A time to come is not, as after
// the clock was set back.
func IsRecent(now, at time.Time, than time.Duration) bool {
	passed := now.Sub(at)
	return passed >= 0 && passed < than
}

// LookAt looks at the processes of a mission; before is the last look. False if they
// can't be seen.
func (l *processLooks) LookAt(m *projects.Mission, now time.Time) (this, before processLook, ok bool) {
	child := m.Live.KeeperChild
	if child == nil {
		child = m.Live.Agent
	}
	if ok = child != nil && child.Liveness() == lock.Alive; ok {
		this.At = now
		this.effort, ok = lock.EffortOf(child.PID)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !ok {
		delete(l.last, m.ID)
		return processLook{}, processLook{}, false
	}
	before = l.last[m.ID]
	this.isWorking = this.effort.Active || this.CpuShare(before) >= MinWorkShare || IsRecent(now, this.effort.Spoke, recentOutputTime)
	if this.restsSince = before.restsSince; this.isWorking || this.restsSince.IsZero() {
		this.restsSince = now
	}
	l.last[m.ID] = this
	return this, before, true
}

// setWorking remembers whether a mission's agent works.
func (l *processLooks) setWorking(id string, works bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if works {
		l.working[id] = true
	} else {
		delete(l.working, id)
	}
}

// wasWorking reports whether a mission's agent worked, as was judged last.
func (l *processLooks) wasWorking(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.working[id]
}

// LastLook is the last look at a mission's processes; zero if there was none.
func (l *processLooks) LastLook(id string) processLook {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last[id]
}

// ReportsNothing reports whether a mission's agent shows nothing of its turns, neither by
// hooks nor by a conversation.
func (o *Observer) ReportsNothing(m *projects.Mission) bool {
	return !m.Live.HasHooks && o.Adapter(m.Agent) == nil
}

// PauseIfWorking says what quiet files mean for a mission: a pause, if its agent has no
// hooks and works.
func (o *Observer) PauseIfWorking(m *projects.Mission, saw missions.Observation) missions.Observation {
	if saw != missions.SawQuiet || !missions.InTurn(m.Lifecycle) || m.Live.HasHooks {
		return saw
	}
	works := o.isAgentWorking(m)
	o.ProcessLooks.setWorking(m.ID, works)
	if works {
		return missions.SawPause
	}
	return saw
}

// NeedsAnotherLook reports whether an agent in a workspace worked at the last look, or may
// end its turn without a report.
func (o *Observer) NeedsAnotherLook(root string) bool {
	return slices.ContainsFunc(o.LiveMissionsIn(root), func(m *projects.Mission) bool { return o.ActivityAfterTurn(m) != AtRest || o.NeedsLook(m) })
}

// NeedsLook reports whether a turn's end may have to be found by a look.
func (o *Observer) NeedsLook(m *projects.Mission) bool {
	if !missions.InTurn(m.Lifecycle) {
		return false
	}
	if !m.Live.HasHooks {
		return o.ProcessLooks.wasWorking(m.ID)
	}
	if o.ElapsedSinceHook(m) < hookQuietTime {
		return false
	}
	over, soon := o.TurnOverWithoutHook(m, o.AgentAttention(m))
	return over || soon
}
