package missions

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

// Pin gives a snapshot a name, under which it is found and kept.
func (l *Local) Pin(ctx context.Context, r PinRequest) (Pin, error) {
	if err := CheckName(r.Name); err != nil {
		return Pin{}, err
	}
	at, err := l.findMoment(ctx, r.Caller, r.Moment, writing)
	if err != nil {
		return Pin{}, err
	}
	return l.pin(ctx, at.project, at.loaded, at.step, r.Name)
}

// pin publishes a pin under a name that is free.
func (l *Local) pin(ctx context.Context, p *project, m *loaded, s step, name string) (Pin, error) {
	naming, err := l.naming(ctx, p)
	if err != nil {
		return Pin{}, err
	}
	defer naming.Release()
	if _, err := p.store.Symbolic(gitstore.HeadRef(name)); err == nil || l.namesBeingMade(p)[name] {
		return Pin{}, Errorf(KindConflict, "choose another name", "a mission is named %s: a pin may not be", name)
	}
	have, err := p.store.Ref(gitstore.PinRef(name))
	switch {
	case err == nil && have != s.ID:
		return Pin{}, Errorf(KindConflict, "umbra unpin "+name+", or choose another name", "there is a pin %s already, on %s", name, have.Short())
	case err == nil:
		return l.pinView(p, name, s.ID), nil
	case !errors.Is(err, gitstore.ErrRefNotFound):
		return Pin{}, err
	}
	if err := p.keepUnder(ctx, name, s.Snapshot); err != nil {
		return Pin{}, err
	}
	v := l.pinView(p, name, s.ID)
	v.Address = s.address(m.Name)
	return v, nil
}

// keepUnder writes a pin: what keeps the record, then the name.
func (p *project) keepUnder(ctx context.Context, name string, s *gitstore.Snapshot) error {
	keep := gitstore.KeepRef(s.ID)
	if _, err := p.store.Ref(keep); err != nil {
		if err := p.store.UpdateRef(ctx, keep, gitstore.ID{}, s.Record, gitstore.Durable); err != nil && !errors.Is(err, gitstore.ErrRefMoved) {
			return err
		}
	}
	failpoint.Hit("pin.kept")
	return p.store.UpdateRef(ctx, gitstore.PinRef(name), gitstore.ID{}, s.ID, gitstore.Durable)
}

// Unpin takes a pin's name away. The snapshot stays as long as its mission does.
func (l *Local) Unpin(ctx context.Context, r PinRequest) (Pin, error) {
	at, err := l.stand(r.Caller)
	if err != nil {
		return Pin{}, err
	}
	missing := Errorf(KindNotFound, "umbra pins", "no pin %q in this project", r.Name)
	if at.project == nil || CheckName(r.Name) != nil {
		return Pin{}, missing
	}
	p := at.project
	id, err := p.store.Ref(gitstore.PinRef(r.Name))
	if errors.Is(err, gitstore.ErrRefNotFound) {
		return Pin{}, missing
	}
	if err != nil {
		return Pin{}, err
	}
	v := l.pinView(p, r.Name, id)
	if err := p.store.DeleteRef(ctx, gitstore.PinRef(r.Name), id); err != nil {
		return Pin{}, err
	}
	failpoint.Hit("unpin.unnamed")
	if len(p.pinsBySnapshot()[id]) > 0 {
		return v, nil
	}
	keep := gitstore.KeepRef(id)
	if record, err := p.store.Ref(keep); err == nil {
		return v, p.store.DeleteRef(ctx, keep, record)
	}
	return v, nil
}

// Pins lists the project's pins by name.
func (l *Local) Pins(_ context.Context, r PinsRequest) ([]Pin, error) {
	at, err := l.stand(r.Caller)
	if err != nil {
		return nil, err
	}
	pins := []Pin{}
	if at.project == nil {
		return pins, nil
	}
	list, err := at.project.store.Refs(gitstore.RefPin)
	if err != nil {
		return nil, err
	}
	for _, ref := range list.Refs {
		pins = append(pins, l.pinView(at.project, ref.Name.Arg(), ref.ID))
	}
	return pins, nil
}

func (l *Local) pinView(p *project, name string, id gitstore.ID) Pin {
	v := Pin{Name: name, Snapshot: id.String()}
	s, err := p.store.Snapshot(id)
	if err != nil {
		v.Message = "damaged: " + err.Error()
		return v
	}
	v.Mission, v.At, v.Message = s.Mission, s.At, s.Message
	if m, err := l.holder(p, id); err == nil && m != nil && !m.removed {
		if at, err := m.stepBack(id, 0); err == nil {
			v.Address = at.step.address(m.Name)
		}
	}
	return v
}
