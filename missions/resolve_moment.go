package missions

import (
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
)

// stepBack is the snapshot n before id, which is in the mission's history. It
// reads no more than what lies between, where records say a snapshot's place.
func (m *loaded) stepBack(id gitstore.ID, n int) (found, error) {
	left := n
	for s, err := range m.project.store.Snapshots(id, gitstore.HistoryOptions{}) {
		if err != nil {
			return found{}, err
		}
		if left > 0 {
			left--
			continue
		}
		at, known, err := m.project.stepOf(s)
		if !known && err == nil {
			at, err = m.project.numbered(m.tip.ID, s.ID)
		}
		return found{m, at}, err
	}
	return found{}, Errorf(KindNotFound, m.Name+"@start is its first", "%s has no snapshot %d before %s", m.Name, n, id.Short())
}

// within resolves a moment in the history of its mission.
func (l *Local) within(m *loaded, moment Moment) (found, error) {
	p, tip := m.project, m.tip.ID
	var s step
	var err error
	switch moment.At {
	case Newest, Back:
		return m.stepBack(tip, moment.N)
	case Turn:
		if moment.N < 0 {
			s, err = p.finished(m.Name, tip, -moment.N)
		} else {
			s, err = p.endOf(m.Name, tip, moment.N)
		}
	case Inside:
		s, err = p.inside(m.Name, tip, moment)
	case First:
		s, err = p.first(tip)
	case ForkPoint:
		if m.Parent == nil {
			return found{}, Errorf(KindNotFound, m.Name+"@start is its first snapshot", "%s is not a fork", m.Name)
		}
		id, perr := gitstore.ParseID(m.Parent.Snapshot)
		if perr != nil {
			return found{}, Errorf(KindDamaged, "umbra doctor", "%s: fork point: %w", m.Name, perr)
		}
		return m.stepBack(id, 0)
	case ByTime:
		s, err = l.byTime(m, moment.When)
	}
	return found{m, s}, err
}

func (p *project) inside(name string, tip gitstore.ID, moment Moment) (step, error) {
	steps, err := p.turnSteps(tip, moment.N)
	if err != nil {
		return step{}, err
	}
	for _, s := range steps {
		if s.K == moment.K {
			return s, nil
		}
	}
	if len(steps) == 0 {
		return step{}, Errorf(KindNotFound, "umbra log "+name, "%s has no turn %d", name, moment.N)
	}
	if moment.K == 0 {
		// No snapshot was taken for its prompt: nothing had changed since.
		if s, err := p.before(tip, steps[0]); err != nil || s.Snapshot != nil {
			return s, err
		}
	}
	return step{}, Errorf(KindNotFound, fmt.Sprintf("it has %s@%d.%d to %s@%d.%d", name, moment.N, steps[0].K, name, moment.N, steps[len(steps)-1].K),
		"turn %d of %s has no snapshot %d", moment.N, name, moment.K)
}

func (p *project) first(tip gitstore.ID) (step, error) {
	var last step
	err := p.eachTurn(tip, func(turn []step) error {
		last = turn[len(turn)-1]
		return nil
	})
	return last, err
}

func (l *Local) byTime(m *loaded, when string) (step, error) {
	limit, err := ParseWhen(when, l.now())
	if err != nil {
		return step{}, err
	}
	var at step
	err = m.project.eachTurn(m.tip.ID, func(turn []step) error {
		for _, s := range turn {
			if !s.At.After(limit) {
				at = s
				return errStop
			}
		}
		return nil
	})
	if err == nil && at.Snapshot == nil {
		err = Errorf(KindNotFound, m.Name+"@start is its first", "%s has no snapshot that old", m.Name)
	}
	return at, err
}
