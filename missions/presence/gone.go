package presence

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// An agent whose process is not known counts as gone when it has been silent, and its
// session file unchanged, for this long. Between turns it may wait for its user over night.
// If it reports after all, its mission continues.
const (
	MaxSilenceInTurn = time.Hour
	MaxSilenceIdle   = 24 * time.Hour
)

// IsAgentGone reports whether the mission's lifecycle has an agent that is known or,
// with no process to look at, supposed to be no more.
func (o *Observer) IsAgentGone(m *projects.Mission) bool {
	return isAgentLost(m) || o.isAgentLongSilent(m)
}

// IsAgentStillGone is IsAgentGone for a mission that was read some time before: since then
// its keeper may have reported the agent's end, and ended itself.
func (o *Observer) IsAgentStillGone(m *projects.Mission) bool {
	now, err := o.LoadMission(m.Project, m.ID)
	return err == nil && o.IsAgentGone(now)
}

// isAgentLongSilent is IsAgentGone for an agent whose process is not known, or can't be
// seen from here.
func (o *Observer) isAgentLongSilent(m *projects.Mission) bool {
	if !missions.HasAgent(m.Lifecycle) || !HasUnknownProcess(m) {
		return false
	}
	if m.Live.Boot != "" && o.Self.Boot != "" && m.Live.Boot != o.Self.Boot {
		return true
	}
	patience := MaxSilenceIdle
	if missions.InTurn(m.Lifecycle) {
		patience = MaxSilenceInTurn
	}
	if o.Now().Sub(lastSignOfLife(m)) < patience || o.ElapsedSinceHook(m) < patience { // the clock may have been set on
		return false
	}
	_, alive := o.SessionProcess(m)
	return !alive
}

// isAgentLost reports whether the mission's agent is known to be gone while its
// lifecycle still has one.
func isAgentLost(m *projects.Mission) bool {
	return missions.HasAgent(m.Lifecycle) && m.Live.Liveness() == lock.Gone
}

// HasUnknownProcess reports whether nothing is known of the processes of a mission: no
// process was noted, or it can't be looked at from here.
func HasUnknownProcess(m *projects.Mission) bool { return m.Live.Liveness() == lock.Unknown }

// IsAgentHidden reports whether the mission has an agent whose process was noted, but
// can't be looked at from here, as in another pid namespace. The agent may well live.
func (o *Observer) IsAgentHidden(m *projects.Mission) bool {
	noted := m.Live.Agent != nil || m.Live.Keeper != nil
	return noted && missions.HasAgent(m.Lifecycle) && HasUnknownProcess(m) && !o.IsAgentGone(m)
}

// HiddenAgentHint is what the user may do about a hidden agent.
func HiddenAgentHint(m *projects.Mission) string {
	return fmt.Sprintf("end it in its own terminal; if it has ended: umbra mission stop %s --force", m.Name)
}

// lastSignOfLife is when the mission's agent was last heard of, or its session file
// written.
func lastSignOfLife(m *projects.Mission) time.Time {
	at := m.LastUsed()
	if m.Live.LastHookAt.After(at) {
		at = m.Live.LastHookAt
	}
	if m.Binding.SessionPath == "" {
		return at
	}
	if info, err := os.Stat(m.Binding.SessionPath); err == nil && info.ModTime().After(at) {
		at = info.ModTime()
	}
	return at
}

// ReloadMission reads a mission again, closing it if its agent is gone.
func (o *Observer) ReloadMission(ctx context.Context, old *projects.Mission) (*projects.Mission, error) {
	if old.Remote != "" {
		return old, nil // its agent is elsewhere
	}
	m, err := o.LoadMission(old.Project, old.ID)
	if err != nil || !o.IsAgentGone(m) {
		return m, err
	}
	if err := o.CloseLostMission(ctx, m); err != nil {
		o.Logger.Warn("close a lost mission", "mission", m.ID, "error", err)
		return m, nil
	}
	return o.LoadMission(old.Project, old.ID)
}

// CloseLostMission closes a mission whose agent is gone without a word, and tells what it had
// answered in a turn that was over.
func (o *Observer) CloseLostMission(ctx context.Context, m *projects.Mission) error {
	rested := false
	closed, err := o.closeDeadMission(ctx, m, func(m *projects.Mission) (missions.Event, bool) {
		_, rested = m.Lifecycle.(missions.Idle)
		boot := m.Live.LastBoot()
		return missions.AgentVanished{LongAgo: boot != "" && boot != o.Self.Boot}, missions.HasAgent(m.Lifecycle)
	})
	if err == nil && closed != nil && rested {
		o.updates.ReportForKeeper(closed)
	}
	return err
}

// CloseDeadMission closes a mission that has no process any more, by the event that of
// returns, as long as of returns one.
func (o *Observer) CloseDeadMission(ctx context.Context, m *projects.Mission, of func(*projects.Mission) (missions.Event, bool)) error {
	_, err := o.closeDeadMission(ctx, m, of)
	return err
}

// closeDeadMission is CloseDeadMission, and returns the mission if it was closed.
func (o *Observer) closeDeadMission(
	ctx context.Context, m *projects.Mission, of func(*projects.Mission) (missions.Event, bool),
) (closed *projects.Mission, err error) {
	done := false
	r := &snapshots.Request{Event: missions.AgentVanished{}}
	r.Prepare = func(m *projects.Mission) (bool, error) {
		event, ok := of(m)
		if _, alive := m.Live.LivingProcess(); alive || !ok {
			return false, nil
		}
		r.Event = event
		PutBackPrompt(m, HasTakenPrompt(m)) // no keeper is left to do that
		o.RemoveLaunchFiles(m)
		m.Live.Keeper, m.Live.Agent, m.Live.KeeperChild, m.Live.Handover = nil, nil, nil, nil
		done = true
		return true, nil
	}
	answer, err := o.snapshots.SubmitRequest(ctx, m.Project, m.ID, r)
	if err != nil || !done {
		return nil, err
	}
	return answer.Mission, nil
}
