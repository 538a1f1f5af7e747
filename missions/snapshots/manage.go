package snapshots

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// RenameMission makes the new name lead to the mission, records it, and drops the old.
func (tk *Taker) RenameMission(ctx context.Context, m *projects.Mission, name string) error {
	store, old := m.Project.Store, m.Name
	if _, err := store.Ref(gitstore.PinRef(name)); err == nil {
		return missions.Errorf(missions.KindConflict, "choose another", "a pin is named %s: a mission may not be", name)
	}
	err := store.SetSymbolic(ctx, gitstore.HeadRef(name), "", gitstore.AgentRef(m.ID), gitstore.Durable)
	if errors.Is(err, gitstore.ErrRefMoved) {
		// A renaming that was cut off has made it lead here already.
		if to, _ := store.Symbolic(gitstore.HeadRef(name)); to != gitstore.AgentRef(m.ID) {
			return missions.Errorf(missions.KindConflict, "choose another", "there is a mission %s in this project already", name)
		}
	} else if err != nil {
		return err
	}
	failpoint.Hit("rename.named")
	m.Name, m.Unnamed = name, false
	if err := tk.WriteMetaRecord(ctx, m, "renamed "+old+" to "+name); err != nil {
		return errors.Join(err, store.DeleteSymbolic(ctx, gitstore.HeadRef(name), gitstore.AgentRef(m.ID)))
	}
	failpoint.Hit("rename.recorded")
	tk.SaveLiveState(m)
	return store.DeleteSymbolic(ctx, gitstore.HeadRef(old), gitstore.AgentRef(m.ID))
}
