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

// Unremove is Remove taken back: the mission has its name and its snapshots again.
// A workspace that went with it is made again by the next launch, and so is a
// conversation; what was in no snapshot stays in the trash.
func (l *Local) Unremove(ctx context.Context, r UnremoveRequest) (Mission, error) {
	m, err := l.findRemoved(r)
	if err != nil {
		return Mission{}, err
	}
	named, err := l.naming(ctx, m.project)
	if err != nil {
		return Mission{}, err
	}
	defer named.Release()
	if is, err := l.taken(m.project)(m.Name); err != nil || is {
		if err == nil {
			err = Errorf(KindConflict, "umbra mission rename "+m.Name+" ANOTHER, then try again", "something else is called %s now", m.Name)
		}
		return Mission{}, err
	}
	if other := l.adoptedSince(m); other != "" {
		return Mission{}, Errorf(KindConflict, "umbra fork "+m.tip.ID.Short()+" gives what it was a mission of its own",
			"the conversation of %s went on as mission %s: back, it would take over what is said there", m.Name, other)
	}
	if err := untrashRefs(ctx, m); err != nil {
		return Mission{}, err
	}
	back, err := l.load(m.project, m.ID)
	if err != nil {
		return Mission{}, err
	}
	return l.view(back), nil
}

// findRemoved finds a mission in the trash, as pickRemoved says.
func (l *Local) findRemoved(r UnremoveRequest) (*loaded, error) {
	all, _, problems := l.removed()
	m, err := l.pickRemoved(r.Caller, all, problems, r.Mission)
	return m.mission, err
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
