package trash

import (
	"context"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Unremove takes Remove back: the mission has its name and snapshots again. A workspace
// that was removed is in its place again, with files that are in no snapshot; if
// something else is in that place, nothing is done. The next launch makes the
// conversation again. A mission that is back already without its workspace gets the
// workspace.
func (b *Bin) Unremove(ctx context.Context, r missions.UnremoveRequest) (missions.Mission, error) {
	held, err := lock.Wait(ctx, returnsLockFile(b.Home), lock.Shared, b.Self)
	if err != nil {
		return missions.Mission{}, home.LockError(err)
	}
	defer func() { _ = held.Release() }()
	m, removed, err := b.FindRemoved(ctx, r)
	if err != nil {
		return missions.Mission{}, err
	}
	if removed {
		if err := b.checkUnremoval(m); err != nil {
			return missions.Mission{}, err
		}
	}
	// First, so that what is cut off here is in the trash still, and is done again.
	if err := b.UntrashWorkspace(ctx, m); err != nil {
		return missions.Mission{}, err
	}
	if removed {
		if err := b.untrashRefsLocked(ctx, m); err != nil {
			return missions.Mission{}, err
		}
	}
	back, err := b.LoadMission(m.Project, m.ID)
	if err != nil {
		return missions.Mission{}, err
	}
	b.tellMissingWorkspace(ctx, back)
	return b.presence.MissionView(back), nil
}

// FindRemoved finds a mission in the trash as pickRemoved does, or a mission that is
// back while its workspace is still in the trash.
func (b *Bin) FindRemoved(ctx context.Context, r missions.UnremoveRequest) (m *projects.Mission, removed bool, err error) {
	all, _, problems := b.removedMissions()
	picked, err := b.pickRemoved(r.Caller, all, problems, r.Mission)
	if err == nil {
		return picked.mission, true, nil
	}
	if missions.AsError(err).Kind != missions.KindNotFound {
		return nil, false, err
	}
	back, notBack := b.addresses.FindMission(ctx, r.Caller, r.Mission, addresses.InAnyProject)
	if notBack != nil || back.Binding.Fork == nil || !back.IsWorkspaceGone() || len(b.pathsInTrash(back.ID)) == 0 {
		return nil, false, err
	}
	return back, false, nil
}

// checkUnremoval refuses to bring a mission back that would get in the way of another.
func (b *Bin) checkUnremoval(m *projects.Mission) error {
	if is, err := b.addresses.TakenNamesOf(m.Project)(m.Name); err != nil || is {
		if err == nil {
			err = missions.Errorf(missions.KindConflict, "umbra mission rename "+m.Name+" ANOTHER, then try again", "something else is called %s now", m.Name)
		}
		return err
	}
	if other := b.missionAdoptedSince(m); other != "" {
		return missions.Errorf(missions.KindConflict, "umbra fork "+m.Tip.ID.Short()+" gives what it was a mission of its own",
			"the conversation of %s went on as mission %s: back, it would take over what is said there", m.Name, other)
	}
	return nil
}

// missionAdoptedSince names the mission that has adopted the session of a removed
// mission since. If the removed mission were back, the session would count as its own
// again.
func (b *Bin) missionAdoptedSince(m *projects.Mission) string {
	all, _ := b.AllProjects()
	for _, p := range all {
		list, _ := b.ProjectMissions(p)
		for _, o := range list {
			if o.Agent == m.Agent && o.Stored.Session != "" && b.AdoptedID(all, o.Agent, o.Stored.Session, m.ID) == m.ID {
				return o.Name
			}
		}
	}
	return ""
}
