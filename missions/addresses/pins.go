package addresses

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Pin gives a snapshot a name, under which it is found and kept.
func (f *Finder) Pin(ctx context.Context, r missions.PinRequest) (missions.Pin, error) {
	if err := missions.CheckName(r.Name); err != nil {
		return missions.Pin{}, err
	}
	at, err := f.FindMoment(ctx, r.Caller, r.Moment, InProject)
	if err != nil {
		return missions.Pin{}, err
	}
	return f.PinSnapshot(ctx, at.Project, at.Mission, at.Snapshot, r.Name)
}

// PinSnapshot publishes a pin under a name that is free.
func (f *Finder) PinSnapshot(ctx context.Context, p *projects.Project, m *projects.Mission, s projects.NumberedSnapshot, name string) (missions.Pin, error) {
	naming, err := f.LockNames(ctx, p)
	if err != nil {
		return missions.Pin{}, err
	}
	defer naming.Release()
	nameless, err := f.NamesOfNameless(p)
	if err != nil {
		return missions.Pin{}, err
	}
	if _, err := p.Store.Symbolic(gitstore.HeadRef(name)); err == nil || nameless[name] || f.forkNamesInProgress(p)[name] {
		return missions.Pin{}, missions.Errorf(missions.KindConflict, "choose another name", "a mission is named %s: a pin may not be", name)
	}
	have, err := p.Store.Ref(gitstore.PinRef(name))
	switch {
	case err == nil && have != s.ID:
		return missions.Pin{}, missions.Errorf(missions.KindConflict, "umbra unpin "+name+", or choose another name", "there is a pin %s already, on %s", name, have.Short())
	case err == nil:
		return f.pinView(p, name, s.ID), nil
	case !errors.Is(err, gitstore.ErrRefNotFound):
		return missions.Pin{}, err
	}
	if err := f.writePin(ctx, p, name, s.Snapshot); err != nil {
		return missions.Pin{}, err
	}
	v := f.pinView(p, name, s.ID)
	v.Address = s.Address(m.Name)
	return v, nil
}

// writePin writes a pin: what keeps the record, then the name. Nobody prunes meanwhile.
func (f *Finder) writePin(ctx context.Context, p *projects.Project, name string, s *gitstore.Snapshot) (err error) {
	held, err := lock.Wait(ctx, lock.ProjectFile(f.Home.Dir, p.ID), lock.Shared, f.Self)
	if err != nil {
		return home.LockError(err)
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	batch := p.Store.NewBatch()
	defer batch.Discard()
	if err := batch.Prove(s.ID, s.Record); err != nil { // it may have been pruned just now
		return missions.Errorf(missions.KindNotFound, "umbra log shows what is left", "snapshot %s can't be read any more: %w", s.ID.Short(), err)
	}
	keep := gitstore.KeepRef(s.ID)
	if _, err := p.Store.Ref(keep); err != nil {
		if err := p.Store.UpdateRef(ctx, keep, gitstore.ID{}, s.Record, gitstore.Durable); err != nil && !errors.Is(err, gitstore.ErrRefMoved) {
			return err
		}
	}
	failpoint.Hit("pin.kept")
	return p.Store.UpdateRef(ctx, gitstore.PinRef(name), gitstore.ID{}, s.ID, gitstore.Durable)
}

// Unpin takes a pin's name away. The snapshot stays as long as its mission does.
func (f *Finder) Unpin(ctx context.Context, r missions.PinRequest) (missions.Pin, error) {
	at, err := f.LocateCaller(r.Caller)
	if err != nil {
		return missions.Pin{}, err
	}
	missing := missions.Errorf(missions.KindNotFound, "umbra pins", "no pin %q in this project", r.Name)
	if at.Project == nil || missions.CheckName(r.Name) != nil {
		return missions.Pin{}, missing
	}
	p := at.Project
	id, err := p.Store.Ref(gitstore.PinRef(r.Name))
	if errors.Is(err, gitstore.ErrRefNotFound) {
		return missions.Pin{}, missing
	}
	if err != nil {
		return missions.Pin{}, err
	}
	v := f.pinView(p, r.Name, id)
	if err := p.Store.DeleteRef(ctx, gitstore.PinRef(r.Name), id); err != nil {
		return missions.Pin{}, err
	}
	failpoint.Hit("unpin.unnamed")
	if len(p.PinsBySnapshot()[id]) > 0 {
		return v, nil
	}
	keep := gitstore.KeepRef(id)
	if record, err := p.Store.Ref(keep); err == nil {
		return v, p.Store.DeleteRef(ctx, keep, record)
	}
	return v, nil
}

// Pins lists the project's pins by name.
func (f *Finder) Pins(_ context.Context, r missions.PinsRequest) ([]missions.Pin, error) {
	at, err := f.LocateCaller(r.Caller)
	if err != nil {
		return nil, err
	}
	pins := []missions.Pin{}
	if at.Project == nil {
		return pins, nil
	}
	list, err := at.Project.Store.Refs(gitstore.RefPin)
	if err != nil {
		return nil, err
	}
	for _, ref := range list.Refs {
		pins = append(pins, f.pinView(at.Project, ref.Name.Arg(), ref.ID))
	}
	return pins, nil
}

func (f *Finder) pinView(p *projects.Project, name string, id gitstore.ID) missions.Pin {
	v := missions.Pin{Name: name, Snapshot: id.String()}
	s, err := p.Store.Snapshot(id)
	if err != nil {
		v.Message = "damaged: " + err.Error()
		return v
	}
	v.Mission, v.At, v.Message, v.Address = s.Mission, s.At, s.Message, f.AddressOf(p, id)
	return v
}

// AddressOf is the address of a snapshot, "" where no mission outside the trash has it.
func (f *Finder) AddressOf(p *projects.Project, id gitstore.ID) string {
	m, err := f.missionHolding(p, id)
	if err != nil || m == nil || m.InTrash {
		return ""
	}
	at, err := MomentBack(m, id, 0)
	if err != nil {
		return ""
	}
	return at.Snapshot.Address(m.Name)
}
