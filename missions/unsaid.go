package missions

import (
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

const (
	// overGrace is how long a session file must have said that the turn is over, and no
	// hook have come, until the hook that tells of that counts as lost.
	overGrace = 5 * time.Second
	// afterHook is how long no hook must have come until the file is looked at for that:
	// each hook has the mission looked at, and most turns are many of them.
	afterHook = time.Second
	// silentFor is how long an agent without hooks, whose file says that it works, and
	// waits for no tool, must have used no processor and written nothing to its terminal
	// until it counts as stopped: with Esc, before it had answered anything.
	silentFor = 30 * time.Second
)

// overUnheard reports whether the turn of an agent with hooks is over, as its session
// file says, though no hook has told; soon, whether it will be, if nothing comes.
func (l *Local) overUnheard(m *loaded, says sessions.Attention) (over, soon bool) {
	r, running := m.life.(Running)
	if !running || !m.live.Hooked || r.Background || len(r.Pending) > 0 || !says.Busy.IsZero() {
		return false, false
	}
	said, ok := l.shownTurn(m)
	if !ok || !said.turn.Over || said.state == sessions.StateRunning || !l.runs(m, said.turn, said.written) {
		return false, false
	}
	over = l.sinceHeard(m) >= overGrace && !recent(l.now(), said.written, overGrace)
	return over, !over
}

// works reports whether an agent without hooks works: as it says itself, if it does,
// else as its conversation says, else as its processes and its terminal show.
func (l *Local) works(m *loaded) bool {
	says := l.attention(m)
	switch {
	case !says.Busy.IsZero(), !says.Asked.IsZero():
		return true
	case !says.Idle.IsZero():
		return false
	}
	this, _, seen := l.looks.take(m, l.now())
	said, talks := l.shownTurn(m)
	switch {
	case !talks:
		return seen && this.atWork
	case !l.sinceLaunch(m, said.at()):
		return false // it was said to another process, and this one has been told nothing yet
	case said.state == sessions.StateRunning:
		return waitsForTools(said.turn) || !seen || !this.silent()
	case said.turn.Over, said.state != sessions.StateIdle:
		return false
	}
	return seen && this.atWork
}

// waitsForTools reports whether calls of a turn have no result.
func waitsForTools(t sessions.Turn) bool {
	return slices.ContainsFunc(t.Tools, func(tool sessions.Tool) bool { return !tool.Done && tool.Agent == "" })
}
