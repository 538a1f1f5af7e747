package presence

import (
	"cmp"
	"context"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// hookGrace is how long an agent must have been busy without a hook until it counts as
// working although its turn has ended: Claude Code is busy while hooks run at the end of a
// turn, and before a hook of Umbra's reports the next turn.
const hookGrace = 2 * time.Second

// commandGrace is how long before its hook is heard a client may be busy with a command of
// Umbra's that its user typed.
const commandGrace = 10 * time.Second

// activity is what an agent does whose turn has ended.
type activity int

const (
	AtRest activity = iota
	// unsettled is an agent that still ends its turn, or begins the next one, or continues:
	// a moment later it is known which.
	unsettled
	AtWork
)

// AgentAttention is what the mission's agent says of itself, empty if it says nothing.
func (o *Observer) AgentAttention(m *projects.Mission) sessions.Attention {
	agent, says := o.Adapter(m.Agent).(sessions.Attending)
	if !says {
		return sessions.Attention{}
	}
	process, _ := m.Live.LivingProcess()
	return agent.Attends(m.AdapterEnv(), m.Stored.Session, process.PID)
}

// ActivityAfterTurn is what a mission's agent does after its turn has ended. In a turn, and
// without an agent, that is AtRest.
func (o *Observer) ActivityAfterTurn(m *projects.Mission) activity {
	if missions.InTurn(m.Lifecycle) || !missions.HasAgent(m.Lifecycle) || o.IsHandoverOwned(m.Live.Handover) {
		return AtRest
	}
	return o.activityAsSaid(m, o.AgentAttention(m))
}

func (o *Observer) activityAsSaid(m *projects.Mission, says sessions.Attention) activity {
	switch {
	case !m.Live.HasHooks && !o.ReportsNothing(m) && o.worksAtPrompt(m):
		return AtWork
	case says.Busy.IsZero(), isOfCommand(m, says.Busy):
		return AtRest
	case o.TrustsBusy(m, says):
		return AtWork
	}
	return unsettled
}

// worksAtPrompt reports whether an agent without hooks works at a prompt, as it or its
// conversation says.
func (o *Observer) worksAtPrompt(m *projects.Mission) bool {
	said, ok := o.conversations.NewestSessionTurn(m)
	return ok && said.State == sessions.StateRunning && o.isAgentWorking(m)
}

// TrustsBusy reports whether a mission's agent works, when it says that it does.
func (o *Observer) TrustsBusy(m *projects.Mission, says sessions.Attention) bool {
	return !says.Busy.IsZero() && o.ElapsedSinceHook(m) >= hookGrace && !IsRecent(o.Now(), says.Busy, hookGrace)
}

// isOfCommand reports whether a client is busy since its user typed a command of Umbra's
// there: no model takes part in that.
func isOfCommand(m *projects.Mission, busy time.Time) bool {
	heard := m.Live.CommandAt
	return !busy.After(heard) && heard.Sub(busy) < commandGrace
}

// ContinueTurnIfWorking continues a mission's turn that had ended, if its agent works.
func (o *Observer) ContinueTurnIfWorking(ctx context.Context, m *projects.Mission) error {
	if o.ActivityAfterTurn(m) != AtWork {
		return nil
	}
	r := &snapshots.Request{Event: missions.TurnContinued{}}
	r.Prepare = func(m *projects.Mission) (bool, error) {
		if o.ActivityAfterTurn(m) != AtWork {
			return false, nil
		}
		m.Live.TurnBegan = o.InstantNow()
		r.Event = missions.TurnContinued{ID: m.Live.PromptID, Seen: true}
		return true, nil
	}
	_, err := o.snapshots.SubmitRequest(ctx, m.Project, m.ID, r)
	return err
}

// IsAgentEngaged reports whether a mission's agent works, or may work, or is about to be
// ended for a restore. What the agent says itself counts more than the end of its turn that
// was reported. Without a process that watches, the turn is not continued: nobody would
// note its end.
func (o *Observer) IsAgentEngaged(ctx context.Context, m *projects.Mission) bool {
	if missions.InTurn(m.Lifecycle) {
		return true
	}
	works := o.ActivityAfterTurn(m)
	if works == AtWork && o.Watching != nil {
		o.WarnLookFailed(m, o.ContinueTurnIfWorking(ctx, m))
	}
	return works != AtRest || o.isPerformingQueued(m)
}

// isPerformingQueued reports whether a restore that was asked for is being done, or is about
// to be, in a mission that is in no turn: by its keeper, by its owner, or by the process that
// serves. A restore that waits for its user is not.
func (o *Observer) isPerformingQueued(m *projects.Mission) bool {
	h := m.Live.Handover
	switch {
	case !missions.HasAgent(m.Lifecycle), m.IsWorkspaceGone():
		return false
	case o.IsHandoverOwned(h):
		return true
	case h != nil:
		return m.Live.HasKeeper() && (!CanRelaunchAgent(m) || h.IsOpen() && o.Watching != nil)
	case m.Live.QueuedRestore == nil:
		return false
	case o.Watching != nil:
		return o.Home.CheckWritable() == nil
	}
	return o.IsWorkspaceHeld(m) // a hook is at it
}

func (o *Observer) WarnLookFailed(m *projects.Mission, err error) {
	if err != nil {
		o.Logger.Warn("look at an agent that may go on", "mission", m.ID, "error", err)
	}
}

// WaitUntilSettled waits until it is known whether a mission's agent continues after its turn,
// and returns the mission read again. The error is KindBusy if the agent continues and no
// process watches.
func (o *Observer) WaitUntilSettled(ctx context.Context, m *projects.Mission) (*projects.Mission, error) {
	for !missions.InTurn(m.Lifecycle) {
		works := o.ActivityAfterTurn(m)
		if works == AtRest {
			return m, nil
		}
		var err error
		switch {
		case works == AtWork && o.Watching == nil:
			err = missions.Errorf(missions.KindBusy, "try again when it is at rest, or with --force",
				"the agent of %s still works after the end of turn %d", m.Name, m.Lifecycle.LastTurn())
		case works == AtWork:
			err = o.ContinueTurnIfWorking(ctx, m)
		}
		if err = cmp.Or(err, projects.Sleep(ctx, projects.PollInterval)); err != nil {
			return m, err
		}
		if m, err = o.LoadMission(m.Project, m.ID); err != nil {
			return m, err
		}
	}
	return m, nil
}

// NoteTurnBegan notes a prompt of the user's, or of the agent's own.
func (o *Observer) NoteTurnBegan(m *projects.Mission, e sessions.Event) {
	m.Live.TurnSession, m.Live.PromptID, m.Live.TurnBegan = e.SessionID, e.PromptID, o.InstantNow()
	if e.Kind == sessions.KindPrompt {
		m.Live.PromptedAt = m.Live.TurnBegan
	}
}
