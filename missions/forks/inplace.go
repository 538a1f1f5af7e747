package forks

import (
	"context"

	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// takeParentsWorkspace has the fork begin where its parent works: no file is copied.
func (j *forkJob) takeParentsWorkspace() {
	j.Made = &fork.Made{Workspace: j.moment.Binding.Workspace, Withheld: j.moment.Withheld}
}

// leaveWithoutWorkspace makes a fork that is to work in its parent's workspace one without any:
// it is bound to that once its parent is parked.
func (j *forkJob) leaveWithoutWorkspace(m *projects.Mission) {
	if !j.request.InPlace {
		return
	}
	m.Binding.PathInRepo, m.Binding.Fork = j.moment.Binding.PathInRepo, nil
	m.Binding.Lodging = &projects.Lodging{Worktree: j.directory}
	m.MoveOut()
}

// noteLocation has the project know the fork's workspace, if that is its own.
func (j *forkJob) noteLocation(ctx context.Context, m *projects.Mission) error {
	if j.request.InPlace {
		return nil
	}
	return j.forker.AddLocation(ctx, m.Project, m.Binding.Workspace, m.Binding.Identity)
}
