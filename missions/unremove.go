package missions

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
)

// UnremoveRequest takes a mission out of the trash again.
type UnremoveRequest struct {
	Caller  Caller `json:"caller"`
	Mission string `json:"mission"` // its name, its id or the beginning of that
}

// Unremove is Remove taken back: the mission has its name and its snapshots again,
// and a workspace that went with it is in its place again, with what was in no
// snapshot. Where something else has that place nothing is done. A conversation is
// made again by the next launch. A mission that is back without its workspace is
// given that.
func (l *Local) Unremove(ctx context.Context, r UnremoveRequest) (Mission, error) {
	m, removed, err := l.findRemoved(ctx, r)
	if err != nil {
		return Mission{}, err
	}
	if removed {
		if err := l.mayUnremove(m); err != nil {
			return Mission{}, err
		}
	}
	// First, so that what is cut off here is in the trash still, and is done again.
	if err := l.untrashWorkspace(ctx, m); err != nil {
		return Mission{}, err
	}
	if removed {
		if err := l.untrashNamed(ctx, m); err != nil {
			return Mission{}, err
		}
	}
	back, err := l.load(m.project, m.ID)
	if err != nil {
		return Mission{}, err
	}
	l.tellOfWorkspace(ctx, back)
	return l.view(back), nil
}

// findRemoved finds a mission in the trash, as pickRemoved says, or one that is back
// without its workspace, which is there still.
func (l *Local) findRemoved(ctx context.Context, r UnremoveRequest) (m *loaded, removed bool, err error) {
	all, _, problems := l.removed()
	picked, err := l.pickRemoved(r.Caller, all, problems, r.Mission)
	if err == nil {
		return picked.mission, true, nil
	}
	if AsError(err).Kind != KindNotFound {
		return nil, false, err
	}
	back, notBack := l.findMission(ctx, r.Caller, r.Mission, reading)
	if notBack != nil || back.bind.Fork == nil || !back.workspaceGone() || len(l.leftInTrash(back.ID)) == 0 {
		return nil, false, err
	}
	return back, false, nil
}

// mayUnremove refuses what would be in the way of another mission.
func (l *Local) mayUnremove(m *loaded) error {
	if is, err := l.taken(m.project)(m.Name); err != nil || is {
		if err == nil {
			err = Errorf(KindConflict, "umbra mission rename "+m.Name+" ANOTHER, then try again", "something else is called %s now", m.Name)
		}
		return err
	}
	if other := l.adoptedSince(m); other != "" {
		return Errorf(KindConflict, "umbra fork "+m.tip.ID.Short()+" gives what it was a mission of its own",
			"the conversation of %s went on as mission %s: back, it would take over what is said there", m.Name, other)
	}
	return nil
}

// untrashNamed moves the refs back while nothing else can take the name.
func (l *Local) untrashNamed(ctx context.Context, m *loaded) error {
	named, err := l.naming(ctx, m.project)
	if err != nil {
		return err
	}
	defer named.Release()
	if err := l.mayUnremove(m); err != nil {
		return err
	}
	return untrashRefs(ctx, m)
}

// adoptedSince names the mission whose session a removed one, were it back, would be
// taken for the mission of: it was adopted first, and again since it was removed.
func (l *Local) adoptedSince(m *loaded) string {
	all, _ := l.allProjects()
	for _, p := range all {
		list, _ := l.missionsOf(p)
		for _, o := range list {
			if o.Agent == m.Agent && o.stored.Session != "" && l.adoptedID(all, o.Agent, o.stored.Session, m.ID) == m.ID {
				return o.Name
			}
		}
	}
	return ""
}

// untrashRefs moves the refs back. The trash refs go last: whatever is cut off in
// between, every snapshot stays reachable; a name that is missing then is doctor's
// to give.
func untrashRefs(ctx context.Context, m *loaded) error {
	store, agent := m.project.store, gitstore.AgentRef(m.ID)
	for _, put := range []struct {
		name gitstore.RefName
		id   gitstore.ID
	}{{gitstore.RecordRef(m.ID), m.record}, {agent, m.tip.ID}} {
		before, err := store.Ref(put.name)
		if err != nil && !errors.Is(err, gitstore.ErrRefNotFound) {
			return err
		}
		if before == put.id {
			continue
		}
		if err := store.UpdateRef(ctx, put.name, before, put.id, gitstore.Durable); err != nil {
			return err
		}
	}
	if err := store.SetSymbolic(ctx, gitstore.HeadRef(m.Name), "", agent, gitstore.Durable); err != nil {
		return err
	}
	if err := store.DeleteRef(ctx, gitstore.TrashAgentRef(m.ID), m.tip.ID); err != nil {
		return err
	}
	if kept, err := store.Ref(gitstore.TrashRecordRef(m.ID)); err == nil {
		return store.DeleteRef(ctx, gitstore.TrashRecordRef(m.ID), kept)
	}
	return nil
}
