package presence

import (
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

const (
	// turnOverGrace is how long a session file must have said that the turn is over, and no
	// hook have come, until the hook that tells of that counts as lost.
	turnOverGrace = 5 * time.Second
	// hookQuietTime is how long no hook must have come until the file is looked at for that:
	// each hook has the mission looked at, and most turns are many of them.
	hookQuietTime = time.Second
	// maxWorkSilence is how long an agent without hooks, whose file says that it works, and
	// waits for no tool, must have used no processor and written nothing to its terminal
	// until it counts as stopped: with Esc, before it had answered anything.
	maxWorkSilence = 30 * time.Second
)

// TurnOverWithoutHook reports whether the turn of an agent with hooks is over, as its session
// file says, though no hook has told; soon, whether it will be, if nothing comes.
func (o *Observer) TurnOverWithoutHook(m *projects.Mission, says sessions.Attention) (over, soon bool) {
	r, running := m.Lifecycle.(missions.Running)
	if !running || !m.Live.HasHooks || r.Background || len(r.Pending) > 0 || !says.Busy.IsZero() {
		return false, false
	}
	said, ok := o.conversations.NewestSessionTurn(m)
	if !ok || !said.Turn.Over || said.State == sessions.StateRunning || !o.IsOfRunningTurn(m, said.Turn, said.ModTime) {
		return false, false
	}
	over = o.ElapsedSinceHook(m) >= turnOverGrace && !IsRecent(o.Now(), said.ModTime, turnOverGrace)
	return over, !over
}

// isAgentWorking reports whether an agent without hooks works: as it says itself, if it does,
// else as its conversation says, else as its processes and its terminal show.
func (o *Observer) isAgentWorking(m *projects.Mission) bool {
	says := o.AgentAttention(m)
	switch {
	case !says.Busy.IsZero(), !says.Asked.IsZero():
		return true
	case !says.Idle.IsZero():
		return false
	}
	this, _, seen := o.ProcessLooks.LookAt(m, o.Now())
	said, talks := o.conversations.NewestSessionTurn(m)
	switch {
	case !talks:
		return seen && this.isWorking
	case !o.IsSinceLaunch(m, said.LastSaidAt()):
		return false // it was said to another process, and this one has been told nothing yet
	case said.State == sessions.StateRunning:
		return waitsForTools(said.Turn) || !seen || !this.isSilent()
	case said.Turn.Over, said.State != sessions.StateIdle:
		return false
	}
	return seen && this.isWorking
}

// waitsForTools reports whether calls of a turn have no result.
func waitsForTools(t sessions.Turn) bool {
	return slices.ContainsFunc(t.Tools, func(tool sessions.Tool) bool { return !tool.Done && tool.Agent == "" })
}

// IsOfRunningTurn reports whether a session file that was written to at that time, and its
// newest turn, tell of the turn that runs. That may not be written yet, and the one
// before it have been stopped too: what was said since the prompt counts or, where the
// agent does not tell its prompts' ids, what was written since.
func (o *Observer) IsOfRunningTurn(m *projects.Mission, turn sessions.Turn, written time.Time) bool {
	r, _ := m.Lifecycle.(missions.Running)
	switch {
	case m.LastPrompt == nil:
		return true
	case r.PromptID == "":
		return o.IsSincePrompt(m, written)
	}
	return o.IsSincePrompt(m, turn.End) // and not by its id, which a resumed session gives again
}
