package presence

import (
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

const (
	// turnOverGrace is how long a session file must have shown the turn's end, without a
	// hook, until the hook of that end counts as lost.
	turnOverGrace = 5 * time.Second
	// hookQuietTime is how long no hook must have come until the session file is read for
	// the turn's end: each hook causes a look, and most turns have many hooks.
	hookQuietTime = time.Second
	// maxWorkSilence is how long an agent without hooks must have used no processor and
	// written nothing to its terminal until it counts as stopped, although its session file
	// says that it works and waits for no tool: Esc before the first answer writes nothing.
	maxWorkSilence = 30 * time.Second
)

// TurnOverWithoutHook reports whether the turn of an agent with hooks is over, as its
// session file shows, although no hook came. Soon reports that it will be over if no hook
// comes.
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

// isAgentWorking reports whether an agent without hooks works: as the agent says itself,
// else as its conversation shows, else as its processes and its terminal show.
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

// IsOfRunningTurn reports whether the newest turn of a session file, which was written to at
// that time, is the turn that runs. The running turn may not be in the file yet, and the turn
// before it may have been stopped too. So the turn must have said something since the
// prompt; or, if the agent does not tell its prompts' ids, the file must be written since.
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
