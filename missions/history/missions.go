package history

import (
	"context"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Missions lists missions, the oldest first.
func (rd *Reader) Missions(ctx context.Context, r missions.MissionsRequest) ([]missions.Mission, error) {
	var projects []*projects.Project
	if r.All {
		var problems []missions.Problem
		projects, problems = rd.AllProjects()
		addresses.NotifyProblems(ctx, problems)
	} else {
		at, err := rd.addresses.LocateCaller(r.Caller)
		if err != nil {
			return nil, err
		}
		if at.Project != nil {
			projects = append(projects, at.Project)
		}
	}
	list := []missions.Mission{}
	for _, p := range projects {
		all, problems := rd.ProjectMissions(p)
		addresses.NotifyProblems(ctx, problems)
		for _, m := range all {
			m, err := rd.presence.ReloadMission(ctx, m)
			if err != nil {
				return list, err
			}
			if r.Live && !missions.HasAgent(m.Lifecycle) {
				continue
			}
			list = append(list, rd.presence.MissionView(m))
		}
	}
	if r.Fetched && !r.Live {
		for _, p := range projects {
			fetched, problems := rd.FetchedMissions(p)
			addresses.NotifyProblems(ctx, problems)
			for _, m := range fetched {
				list = append(list, rd.presence.MissionView(m))
			}
		}
	}
	return list, nil
}

// Mission shows one mission.
func (rd *Reader) Mission(ctx context.Context, r missions.MissionRequest) (missions.Mission, error) {
	m, err := rd.addresses.FindMission(ctx, r.Caller, r.Name, addresses.InAnyProject)
	if err != nil {
		return missions.Mission{}, err
	}
	if m, err = rd.presence.ReloadMission(ctx, m); err != nil {
		return missions.Mission{}, err
	}
	v := rd.presence.MissionView(m)
	if m.Remote != "" {
		return v, nil
	}
	// Not in lists: it looks through the directories beside each lost workspace.
	if moved := m.Whereabouts(r.Caller.Cwd); moved != "" && !missions.InTurn(m.Lifecycle) {
		v.ForkBlockedReason = "its workspace is in " + moved + " now: " + m.MoveCommand(moved)
	}
	if output := rd.Home.OutputFile(m.ID); home.IsThere(output) {
		v.Output = output
	}
	if output := rd.Home.CheckOutputFile(m.ID); home.IsThere(output) {
		v.CheckOutput = output
	}
	return v, nil
}

// Projects lists the known projects.
func (rd *Reader) Projects(context.Context, missions.ProjectsRequest) ([]missions.Project, error) {
	list := []missions.Project{}
	all, problems := rd.AllProjects()
	for _, p := range all {
		list = append(list, rd.presence.ProjectView(p))
	}
	for _, problem := range problems {
		list = append(list, missions.Project{Name: problem.Project, Problems: []string{problem.Message}})
	}
	slices.SortFunc(list, func(a, b missions.Project) int { return strings.Compare(a.Name+a.ID, b.Name+b.ID) })
	return list, nil
}

// Resolve says where a mission or moment is in the shadow repository.
func (rd *Reader) Resolve(ctx context.Context, r missions.ResolveRequest) (missions.ResolveResult, error) {
	if r.Moment != "" {
		at, err := rd.addresses.FindMoment(ctx, r.Caller, r.Moment, addresses.InAnyProject)
		if err != nil {
			return missions.ResolveResult{}, err
		}
		return missions.ResolveResult{Mission: rd.presence.MissionView(at.Mission), Snapshot: at.Snapshot.ID.String(), ShadowRepo: at.Project.ShadowRepo()}, nil
	}
	m, err := rd.addresses.FindMission(ctx, r.Caller, r.Mission, addresses.InAnyProject)
	if err != nil {
		return missions.ResolveResult{}, err
	}
	return missions.ResolveResult{Mission: rd.presence.MissionView(m), Snapshot: m.Tip.ID.String(), ShadowRepo: m.Project.ShadowRepo()}, nil
}
