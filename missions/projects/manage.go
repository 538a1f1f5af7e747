package projects

import (
	"context"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// WithRecoveredMission runs fn on a mission read afresh, for changes of its record alone.
// It takes the workspace if that is there; a mission whose workspace is gone
// can still be renamed and removed.
func (d *Desk) WithRecoveredMission(ctx context.Context, m *Mission, fn func(*Mission) error) error {
	return d.WithMissionLock(ctx, m, d.WithRecoveredWorkspace, fn)
}

func (d *Desk) WithMissionLock(ctx context.Context, m *Mission, hold HoldFunc, fn func(*Mission) error) error {
	if !m.IsWorkspaceGone() {
		return hold(ctx, m, fn)
	}
	held, err := lock.Wait(ctx, lock.ProjectFile(d.Home.Dir, m.Project.ID), lock.Shared, d.Self)
	if err != nil {
		return home.LockError(err)
	}
	defer held.Release()
	fresh, err := d.LoadMission(m.Project, m.ID)
	if err != nil {
		return err
	}
	return fn(fresh)
}

// IsWorkspaceGone reports whether the workspace is not where the mission left it.
func (m *Mission) IsWorkspaceGone() bool {
	place, err := DirectoryIdentity(m.Binding.Workspace)
	return err != nil || place != m.Binding.Identity
}

// WorkspaceGoneProblem says of a mission that its workspace is not where it was.
func (m *Mission) WorkspaceGoneProblem() missions.Problem {
	again := m.recreateCommand()
	if m.IsWorkspaceReplaced() {
		again = m.takeOverCommand() + " to work in what is there now"
	}
	return missions.Problem{
		Project: m.Project.Name, Mission: m.Name, Message: "its workspace " + m.Binding.Workspace + " was moved, replaced, mounted over or removed",
		Fix: "umbra project move " + home.ShellQuote(m.Binding.Workspace) + " NEW if it was moved, " + again + ", or umbra mission rm " + m.Name,
	}
}
