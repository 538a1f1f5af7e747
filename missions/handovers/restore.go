package handovers

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Restore puts files, conversation or both back to a moment. What is on disk is
// kept in a snapshot first, and undo takes the restore back.
func (s *Scheduler) Restore(ctx context.Context, r missions.RestoreRequest) (missions.RestoreResult, error) {
	if err := r.Check(); err != nil {
		return missions.RestoreResult{}, err
	}
	if r.Displaced {
		return restoreDisplaced(ctx, s, r)
	}
	at, m, err := s.findMomentAndMission(ctx, r)
	if err != nil {
		return missions.RestoreResult{}, err
	}
	r.Moment, r.Mission, r.Promotion, r.Merge = at.Snapshot.ID.String(), m.ID, nil, nil // whatever happens until it is done
	return s.RunAction(ctx, m, projects.Action{Restore: &r})
}

// restoreDisplaced puts back what other programs lost to restores of a mission.
func restoreDisplaced(ctx context.Context, s *Scheduler, r missions.RestoreRequest) (missions.RestoreResult, error) {
	m, err := s.addresses.FindMission(ctx, r.Caller, r.Mission, addresses.InProject)
	if err != nil {
		return missions.RestoreResult{}, err
	}
	r.Moment, r.Mission, r.FilesOnly, r.Merge = m.Tip.ID.String(), m.ID, true, nil
	return s.RunAction(ctx, m, projects.Action{Restore: &r})
}

// findMomentAndMission finds the moment, and the mission whose workspace is meant. That
// is the mission that --mission names. Otherwise it is the mission of the moment, or
// the one that works in the current directory, if it has the snapshot in its history
// and its workspace holds the directory.
func (s *Scheduler) findMomentAndMission(ctx context.Context, r missions.RestoreRequest) (addresses.ResolvedMoment, *projects.Mission, error) {
	at, err := s.addresses.FindMoment(ctx, r.Caller, r.Moment, addresses.InProject)
	if err != nil {
		return addresses.ResolvedMoment{}, nil, err
	}
	if r.Mission != "" {
		m, err := s.addresses.FindMission(ctx, r.Caller, r.Mission, addresses.InProject)
		if err != nil {
			return addresses.ResolvedMoment{}, nil, err
		}
		if m.Project.ID != at.Project.ID {
			return addresses.ResolvedMoment{}, nil, missions.Errorf(missions.KindUsage, "restore a snapshot of its own project", "%s is in another project than %s", at.Snapshot.ID.Short(), m.Name)
		}
		return at, m, nil
	}
	here := projects.ResolveLinks(r.Caller.Cwd)
	if home.IsWithin(at.Binding.Workspace, here) && at.Binding.Workspace != "" {
		return at, at.Mission, nil
	}
	if m, err := s.addresses.FindMission(ctx, r.Caller, "", addresses.InProject); err == nil && m.Project.ID == at.Project.ID && home.IsWithin(m.Binding.Workspace, here) {
		if _, ok, err := m.Project.FindInHistory(m.Tip.ID, at.Snapshot.ID); ok || err != nil {
			return at, m, err
		}
	}
	if err := at.CheckMachine(); err != nil {
		return addresses.ResolvedMoment{}, nil, err
	}
	if moved := at.Whereabouts(here); moved != "" {
		return addresses.ResolvedMoment{}, nil, at.MovedError(moved)
	}
	return addresses.ResolvedMoment{}, nil, missions.Errorf(missions.KindConflict, fmt.Sprintf("umbra restore %s --mission %s", r.Moment, at.Name),
		"%s is a moment of mission %s, which works in %s, not here", at.Snapshot.Address(at.Name), at.Name, at.Binding.Workspace)
}

// restoreLocked restores a mission to a snapshot named by its id. The caller holds the
// workspace.
func (s *Scheduler) restoreLocked(ctx context.Context, m *projects.Mission, r missions.RestoreRequest) (missions.RestoreResult, error) {
	target, err := addresses.SnapshotByID(m.Project, r.Moment)
	if err != nil {
		return missions.RestoreResult{}, err
	}
	if err := s.restores.CheckNeighbours(m); err != nil && !r.Force && !r.Preview {
		return missions.RestoreResult{}, err
	}
	if err := s.restores.RequireRestoresEnded(ctx, m); err != nil {
		return missions.RestoreResult{}, err
	}
	if lent := m.LentTo(); lent != nil && !(r.Preview && r.Promotion != nil && r.Promotion.Fork == lent.Fork) {
		return missions.RestoreResult{}, s.LentError(m)
	}
	job, err := s.restores.PlanRestore(ctx, m, target, r)
	if err != nil {
		return missions.RestoreResult{}, err
	}
	if r.Preview {
		return s.previewResult(m, job, projects.Action{Restore: &r}), nil
	}
	if err := job.Refusal(r); err != nil {
		return job.Result, err
	}
	return s.restores.RunRestore(ctx, m, job, r.Caller)
}
