// Package agents begins missions and launches their agents: the command, its
// environment, the agent's configuration, what the keeper does when the agent ends, the
// limit on live missions, and the user's automations.
package agents

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/updates"
)

// Launcher begins missions and starts their agents.
type Launcher struct {
	*projects.Desk
	addresses     *addresses.Finder
	conversations *conversations.Library
	snapshots     *snapshots.Taker
	presence      *presence.Observer
	updates       *updates.Courier

	StartAutomation func(Automation) error // nil: none is run
	Unadopted       *unadopted

	// Recreate makes a lost workspace again that a launch asks for. The room of forks
	// hands it in.
	Recreate func(ctx context.Context, m *projects.Mission, r missions.LaunchRequest) (*projects.Mission, error)
	// Relieve answers a keeper whose agent has ended with what to launch next, if anything
	// is. The room of side forks hands it in.
	Relieve func(ctx context.Context, m *projects.Mission, r missions.KeepRequest) (next missions.KeepResult, relieved bool, err error)
	// Attend answers a keeper who asks whether its agent is idle. The room of side forks
	// hands it in.
	Attend func(ctx context.Context, m *projects.Mission, r missions.KeepRequest) (missions.KeepResult, error)
}

// New makes a Launcher.
func New(d *projects.Desk, a *addresses.Finder, c *conversations.Library, s *snapshots.Taker, p *presence.Observer, u *updates.Courier) *Launcher {
	return &Launcher{Desk: d, addresses: a, conversations: c, snapshots: s, presence: p, updates: u, Unadopted: NewUnadopted()}
}

// Rename gives a mission another name. Its id, ref and history stay.
func (l *Launcher) Rename(ctx context.Context, r missions.RenameRequest) (missions.Mission, error) {
	if err := missions.CheckName(r.Name); err != nil {
		return missions.Mission{}, err
	}
	m, err := l.addresses.FindMission(ctx, r.Caller, r.Mission, addresses.InProject)
	if err != nil {
		return missions.Mission{}, err
	}
	err = l.WithRecoveredMission(ctx, m, func(m *projects.Mission) error {
		byUser := r.Caller.Mission == "" // an agent's words are not its user's
		if m.Name == r.Name && (m.NameGiven || !byUser) {
			return nil
		}
		m.NameGiven = byUser
		if m.Name == r.Name {
			m.Unnamed = false // the first prompt does not rename it any more
			if err := l.snapshots.WriteMetaRecord(ctx, m, "the name was given"); err != nil {
				return err
			}
			l.SaveLiveState(m)
			return nil
		}
		naming, err := l.addresses.LockNames(ctx, m.Project)
		if err != nil {
			return err
		}
		defer naming.Release()
		return l.snapshots.RenameMission(ctx, m, r.Name)
	})
	if err != nil {
		return missions.Mission{}, err
	}
	if m, err = l.LoadMission(m.Project, m.ID); err != nil {
		return missions.Mission{}, err
	}
	return l.presence.MissionView(m), nil
}
