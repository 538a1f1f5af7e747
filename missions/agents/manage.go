package agents

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
)

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
		if m.Name == r.Name {
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
