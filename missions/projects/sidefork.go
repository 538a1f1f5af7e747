package projects

import (
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
)

// SideFork is the claim of a fork to the terminal of the mission that was parked for it. It
// is in the live state of the parked mission, and ends when that is launched again. It
// means nothing when the keeper is gone, or keeps another agent.
type SideFork struct {
	Mission string     `json:"mission"`
	Keeper  lock.Owner `json:"keeper"` // of the terminal

	IdleTimeout time.Duration `json:"idle_timeout,omitempty"` // 0: it may be idle for ever
	AskedAt     time.Time     `json:"asked,omitzero"`         // when its user was asked whether it goes on
	TimedOut    string        `json:"timed_out,omitempty"`    // the launch whose agent was ended since nobody answered
}

// UnansweredSince is when the user of a side fork was asked whether it goes on, zero if that
// was not asked, or was answered by a prompt.
func (c *SideFork) UnansweredSince(fork *Mission) time.Time {
	if c == nil || !c.AskedAt.After(fork.Live.PromptedAt.At) {
		return time.Time{}
	}
	return c.AskedAt
}

// HasTerminalOf reports whether a fork has the terminal of a mission that is parked for it,
// or is about to have it.
func (m *Mission) HasTerminalOf(parked *Mission) bool {
	c, closed := parked.Lifecycle.(missions.Closed)
	claim, keeper := parked.Live.SideFork, m.Live.Keeper
	return closed && c.Reason == missions.CloseReasonParked && claim != nil && claim.Mission == m.ID &&
		keeper != nil && *keeper == claim.Keeper && keeper.Liveness() == lock.Alive
}

// ParkedParent is the mission that is parked for a side fork, nil if it is none.
func (r *MissionReader) ParkedParent(m *Mission) *Mission {
	if m.Parent == nil || !m.Live.HasKeeper() {
		return nil
	}
	parent, err := r.LoadMission(m.Project, m.Parent.Mission)
	if err != nil || !m.HasTerminalOf(parent) {
		return nil
	}
	return parent
}

// IsBeside reports whether a mission is a side fork whose parent goes on in a terminal of its
// own. It is one until its first agent's terminal ends.
func (m *Mission) IsBeside() bool { return m.Live.Beside && m.Parent != nil && m.Live.HasKeeper() }

// SideForkOf is the fork that has the terminal of a parked mission, nil if none has.
func (r *MissionReader) SideForkOf(parked *Mission) *Mission {
	if parked.Live.SideFork == nil {
		return nil
	}
	m, err := r.LoadMission(parked.Project, parked.Live.SideFork.Mission)
	if err != nil || !m.HasTerminalOf(parked) {
		return nil
	}
	return m
}
