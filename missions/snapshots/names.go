package snapshots

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// RenameMission makes the new name lead to the mission, records it, and drops the old
// name.
func (tk *Taker) RenameMission(ctx context.Context, m *projects.Mission, name string) error {
	store, old := m.Project.Store, m.Name
	if _, err := store.Ref(gitstore.PinRef(name)); err == nil {
		return missions.Errorf(missions.KindConflict, "choose another", "a pin is named %s: a mission may not be", name)
	}
	nameless, err := tk.addresses.NamesOfNameless(m.Project)
	if err != nil {
		return err
	}
	if nameless[name] && name != m.Name {
		return missions.Errorf(missions.KindConflict, "choose another", "there is a mission %s in this project already", name)
	}
	err = store.SetSymbolic(ctx, gitstore.HeadRef(name), "", gitstore.AgentRef(m.ID), gitstore.Durable)
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
	err = store.DeleteSymbolic(ctx, gitstore.HeadRef(old), gitstore.AgentRef(m.ID))
	if errors.Is(err, gitstore.ErrRefMoved) { // it did not lead here
		return nil
	}
	return err
}

// chooseFirstName chooses the name with which a mission is recorded first. Another
// mission may still take it: see claimName.
func (tk *Taker) chooseFirstName(m *projects.Mission, w *WantedSnapshot) error {
	name, err := tk.addresses.ChooseName(m.Project, *w.NewMission)
	m.Name, w.Message = name, "mission "+name+" begins"
	return err
}

// claimName takes the lock on names until the mission is published, if its name is
// still free. Otherwise the mission gets another name and is to be recorded once more.
// Where an agent waits and the lock is busy, the mission is named after its id, which
// needs no lock; nameByPrompt gives it a better name later.
func (tk *Taker) claimName(ctx context.Context, m *projects.Mission, w *WantedSnapshot) (held *lock.Lock, another bool, err error) {
	waits := ctx
	if w.NewMission.Adopted {
		var cancel context.CancelFunc
		waits, cancel = context.WithTimeout(ctx, addresses.NamesLockPatience)
		defer cancel()
	}
	held, err = tk.addresses.LockNames(waits, m.Project)
	switch {
	case err != nil && w.NewMission.Adopted && ctx.Err() == nil:
		name := addresses.AgentBaseName(m.AgentName()) + "-" + m.ID[:8]
		m.Live.PendingName, m.Unnamed = w.NewMission.Name, true
		m.Name, w.Message = name, "mission "+name+" begins"
		return nil, true, nil
	case err != nil:
		return nil, false, err
	}
	is, err := tk.addresses.TakenNamesOf(m.Project)(m.Name)
	if err == nil && !is {
		return held, false, nil
	}
	if err == nil {
		err = tk.chooseFirstName(m, w)
	}
	if err != nil {
		return nil, false, errors.Join(err, held.Release())
	}
	return held, true, nil
}

// nameByPrompt names an adopted mission by its first prompt. If somebody else gives
// names at this moment, the next event does it. The caller holds the workspace.
func (tk *Taker) nameByPrompt(ctx context.Context, m *projects.Mission) error {
	if !m.Unnamed || m.Live.PendingName == "" || m.Live.ProvisionalSnapshot != "" {
		return nil
	}
	held, err := lock.Try(tk.addresses.NamesLockFile(m.Project), lock.Exclusive, tk.Self)
	if errors.Is(err, lock.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	name, err := tk.addresses.TakenNamesOf(m.Project).FreeName(m.Live.PendingName)
	if err != nil {
		return errors.Join(err, held.Release())
	}
	m.Live.PendingName = ""
	return errors.Join(tk.RenameMission(ctx, m, name), held.Release())
}
