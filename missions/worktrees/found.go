package worktrees

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Begin begins a mission of the worktree that holds a directory of a mission's workspace,
// where nobody asked Umbra for it: the mission's agent has gone to work there, and its own
// snapshots leave it out. One that is there already is taken. It returns nil where the
// directory is in no such worktree.
func (s *Steward) Begin(ctx context.Context, c missions.Caller, m *projects.Mission, dir string) (*projects.Mission, error) {
	if !snapshots.IsInOwnWorktree(m, dir) {
		return nil, nil
	}
	g, err := projects.InspectDirectory(dir)
	if err != nil {
		return nil, err
	}
	r := repositoryIn(g)
	held, err := r.holdName(ctx, s.Home, g.Top)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	if f := s.in(r, dir); f != nil { // another event from there was first
		return f, nil
	}
	f := s.workingAt(m, g.Top)
	if f == nil {
		if f, err = s.newMission(ctx, c, m, g.Top); err != nil {
			return nil, err
		}
	}
	return f, r.Note(ctx, s.Home, Place{Name: g.Top, Dir: g.Top, Mission: f.ID, For: m.ID, At: s.Now()})
}

// workingAt is a mission that was begun in a worktree by hand, nil if none was.
func (s *Steward) workingAt(m *projects.Mission, top string) *projects.Mission {
	list, _ := s.ProjectMissions(m.Project)
	for _, f := range list {
		if f.CheckMachine() == nil && f.Remote == "" && f.Binding.Workspace != "" && isSame(f.Binding.Workspace, top) {
			return f
		}
	}
	return nil
}

// newMission is one of a worktree, with its directory's name and the agent that works there.
func (s *Steward) newMission(ctx context.Context, c missions.Caller, m *projects.Mission, top string) (*projects.Mission, error) {
	name, err := s.addresses.TakenNamesOf(m.Project).FreeName(missionName(filepath.Base(top)))
	if err != nil {
		return nil, err
	}
	c.Cwd = top
	made, err := s.agents.NewMission(ctx, missions.NewMissionRequest{Caller: c, Name: name, NameMade: true, Agent: m.Agent, Workspace: top})
	if err != nil {
		return nil, fmt.Errorf("begin a mission in the worktree %s: %w", top, err)
	}
	return s.MissionByID(made.ID)
}
