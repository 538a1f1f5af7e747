package missions

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/journal"
)

// knows is what somebody knows who asks for steps back now, in a turn.
func (m *loaded) knows(steps []past) *Known {
	k := &Known{}
	if !m.unhooked() { // else the turn may have no number yet
		k.Turn = m.life.LastTurn()
	}
	for _, op := range steps {
		k.Operations = append(k.Operations, op.ID)
	}
	return k
}

// still is why steps that waited for the end of a turn are not done any more: the
// operations that they would take back are others than were meant.
func (k *Known) still(m *loaded, steps []past, kind string) error {
	if k == nil || slices.Equal(m.knows(steps).Operations, k.Operations) {
		return nil
	}
	return Errorf(KindConflict, "umbra log --ops lists them; umbra "+kind, "something else was restored on %s since that was asked for", m.Name)
}

// foreknow adds to an undo or redo that is to wait for the end of the turn what is
// known now; or it is refused, where the end of the turn would refuse it. The caller
// holds the workspace.
func (l *Local) foreknow(m *loaded, a asked) (asked, error) {
	r, kind := a.steps(), a.kind()
	if found, err := l.eachCutOff(m, func(*journal.Operation, journal.Phase) error { return nil }); found || err != nil {
		return a, err // the step is to end that, whatever came since
	}
	list, err := m.stepsBack(kind, max(1, r.Steps))
	if err != nil {
		return a, err
	}
	r.Known = m.knows(list)
	for _, op := range list {
		_, later, err := m.stepJob(op, r, kind)
		if err != nil {
			return a, err
		}
		if later != nil && !r.Force {
			return a, later
		}
	}
	if kind == "redo" {
		return asked{Redo: &r}, nil
	}
	return asked{Undo: &r}, nil
}
