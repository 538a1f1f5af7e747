package addresses

import (
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// SnapshotByID reads a snapshot by its id.
func SnapshotByID(p *projects.Project, text string) (*gitstore.Snapshot, error) {
	id, err := gitstore.ParseID(text)
	if err != nil {
		return nil, err
	}
	s, err := p.Store.Snapshot(id)
	if err != nil {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "snapshot %s: %w", id.Short(), err)
	}
	return s, nil
}

// MomentBack is the snapshot n before id, which is in the mission's history. It
// reads no more than what lies between, where records say a snapshot's place.
func MomentBack(m *projects.Mission, id gitstore.ID, n int) (ResolvedMoment, error) {
	left := n
	for s, err := range m.Project.Store.Snapshots(id, shadow.HistoryOptions{}) {
		if err != nil {
			return ResolvedMoment{}, err
		}
		if left > 0 {
			left--
			continue
		}
		at, known, err := m.Project.NumberSnapshotByRecord(s)
		if !known && err == nil {
			at, err = m.Project.NumberSnapshotByWalk(m.Tip.ID, s.ID)
		}
		return ResolvedMoment{m, at}, err
	}
	return ResolvedMoment{}, missions.Errorf(missions.KindNotFound, m.Name+"@start is its first", "%s has no snapshot %d before %s", m.Name, n, id.Short())
}

// resolveInMission resolves a moment in the history of its mission.
func (f *Finder) resolveInMission(m *projects.Mission, moment missions.Moment) (ResolvedMoment, error) {
	p, tip := m.Project, m.Tip.ID
	var s projects.NumberedSnapshot
	var err error
	switch moment.Form {
	case missions.MomentNewest, missions.MomentBack:
		return MomentBack(m, tip, moment.N)
	case missions.MomentTurn:
		if moment.N < 0 {
			s, err = p.NthFinishedTurn(m.Name, tip, -moment.N)
		} else {
			s, err = p.TurnEnd(m.Name, tip, moment.N)
		}
	case missions.MomentInTurn:
		s, err = snapshotInTurn(p, m.Name, tip, moment)
	case missions.MomentFirst:
		s, err = firstSnapshot(p, tip)
	case missions.MomentForkPoint:
		if m.Parent == nil {
			return ResolvedMoment{}, missions.Errorf(missions.KindNotFound, m.Name+"@start is its first snapshot", "%s is not a fork", m.Name)
		}
		id, perr := gitstore.ParseID(m.Parent.Snapshot)
		if perr != nil {
			return ResolvedMoment{}, missions.Errorf(missions.KindDamaged, "umbra doctor", "%s: fork point: %w", m.Name, perr)
		}
		return MomentBack(m, id, 0)
	case missions.MomentByTime:
		s, err = f.snapshotAtTime(m, moment.When)
	}
	return ResolvedMoment{m, s}, err
}

func snapshotInTurn(p *projects.Project, name string, tip gitstore.ID, moment missions.Moment) (projects.NumberedSnapshot, error) {
	steps, err := p.TurnSnapshots(tip, moment.N)
	if err != nil {
		return projects.NumberedSnapshot{}, err
	}
	for _, s := range steps {
		if s.K == moment.K {
			return s, nil
		}
	}
	if len(steps) == 0 {
		if err := p.PrunedTurn(name, tip, moment.N); err != nil {
			return projects.NumberedSnapshot{}, err
		}
		return projects.NumberedSnapshot{}, missions.Errorf(missions.KindNotFound, "umbra log "+name, "%s has no turn %d", name, moment.N)
	}
	if moment.K == 0 && !steps[0].PrunedAt.IsZero() {
		return projects.NumberedSnapshot{}, projects.PrunedError(name, fmt.Sprintf("the state before turn %d", moment.N), steps[0].PrunedAt)
	}
	if moment.K == 0 {
		// No snapshot was taken for its prompt: nothing had changed since.
		if s, err := p.PreviousSnapshot(tip, steps[0]); err != nil || s.Snapshot != nil {
			return s, err
		}
	}
	for _, after := range steps {
		if after.K > moment.K && !after.PrunedAt.IsZero() {
			return projects.NumberedSnapshot{}, projects.PrunedError(name, fmt.Sprintf("snapshot %d of turn %d", moment.K, moment.N), after.PrunedAt)
		}
		if after.K > moment.K {
			break
		}
	}
	return projects.NumberedSnapshot{}, missions.Errorf(missions.KindNotFound, fmt.Sprintf("it has %s@%d.%d to %s@%d.%d", name, moment.N, steps[0].K, name, moment.N, steps[len(steps)-1].K),
		"turn %d of %s has no snapshot %d", moment.N, name, moment.K)
}

func firstSnapshot(p *projects.Project, tip gitstore.ID) (projects.NumberedSnapshot, error) {
	var last projects.NumberedSnapshot
	err := p.WalkTurns(tip, func(turn []projects.NumberedSnapshot) error {
		last = turn[len(turn)-1]
		return nil
	})
	return last, err
}

func (f *Finder) snapshotAtTime(m *projects.Mission, when string) (projects.NumberedSnapshot, error) {
	limit, err := missions.ParseWhen(when, f.Now())
	if err != nil {
		return projects.NumberedSnapshot{}, err
	}
	var at projects.NumberedSnapshot
	err = m.Project.WalkTurns(m.Tip.ID, func(turn []projects.NumberedSnapshot) error {
		for _, s := range turn {
			if !s.At.After(limit) {
				at = s
				return projects.ErrStopWalk
			}
		}
		return nil
	})
	if err == nil && at.Snapshot == nil {
		err = missions.Errorf(missions.KindNotFound, m.Name+"@start is its first", "%s has no snapshot that old", m.Name)
	}
	return at, err
}
