package missions

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
)

// recoveredPin begins the names of pins that doctor makes.
const recoveredPin = "recovered-"

// keepCutOff pins what lost commits have cut off: snapshots that are whole and
// that nothing leads to any more. They are named, restored and unpinned like any
// others; that they belonged to the mission's history is all that is lost.
func (d *examination) keepCutOff(ctx context.Context, p *project) error {
	roots, err := d.l.unpublished(p)
	if err != nil {
		return err
	}
	runs, err := p.store.CutOff(ctx, roots...)
	if err != nil {
		return err
	}
	for _, run := range runs {
		name := recoveredPin + run.Newest.ID.Short()
		said := Problem{
			Invariant: "I1", Project: p.Name, Mission: run.Newest.Mission,
			Message: fmt.Sprintf("nothing leads to what is whole before a lost snapshot, %s and %d before it: the pin %s keeps it (umbra log %s)", run.Newest.ID.Short(), run.Count-1, name, name),
		}
		d.found(said, func() error {
			naming, err := d.l.naming(ctx, p)
			if err != nil {
				return err
			}
			defer naming.Release()
			return p.keepUnder(ctx, name, run.Newest)
		})
	}
	return nil
}

// keeper is the mission of a snapshot that a pin leads to though the mission's
// history, which breaks off, does not; nil if there is none.
func (l *Local) keeper(p *project, id gitstore.ID) *loaded {
	s, err := p.store.Snapshot(id)
	if err != nil {
		return nil
	}
	m, err := l.load(p, s.Mission)
	if err != nil {
		return nil
	}
	pins, err := p.store.Refs(gitstore.RefPin)
	if err != nil {
		return nil
	}
	for _, pin := range pins.Refs {
		if held, err := p.store.IsAncestor(id, pin.ID); err == nil && held {
			return m
		}
	}
	return nil
}
