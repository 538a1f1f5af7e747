package restores

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Reversals tells, for the snapshots of one history from the newest back, which of them an
// operation has taken back since: those between a restore of all files, or an undo or a
// redo, and what it put back. What is taken back itself takes nothing back.
type Reversals struct {
	Project *projects.Project
	until   gitstore.ID
}

// TookBack is asked about each snapshot once, in that order.
func (r *Reversals) TookBack(s *gitstore.Snapshot) bool {
	switch r.until {
	case gitstore.ID{}:
	case s.ID:
		r.until = gitstore.ID{}
	default:
		return true
	}
	if s.RestoredFrom.IsZero() {
		return false
	}
	op, ok, err := readAnyOperation(r.Project, s)
	if err != nil || !ok || len(op.Paths) > 0 {
		return false // a record that can't be read is said by doctor
	}
	to, err := r.Project.Store.Snapshot(s.RestoredFrom)
	if err != nil || to.Mission != s.Mission {
		return false
	}
	before, err := r.Project.Store.Snapshot(s.Parent())
	if err != nil || before.Tree == s.Tree && to.Tree != s.Tree {
		return false // of the conversation alone
	}
	r.until = to.ID // which is further back, since it is of the same mission
	return false
}

// IsTakenBack reports whether an operation has taken back a snapshot of a mission's since.
func IsTakenBack(m *projects.Mission, snapshot gitstore.ID) bool {
	reversals := Reversals{Project: m.Project}
	for s, err := range m.Project.SnapshotCache.WalkHistory(m.Project.Store, m.Tip.ID) {
		if err != nil {
			return false // a history that can't be read is said by doctor
		}
		if back := reversals.TookBack(s); s.ID == snapshot {
			return back
		}
	}
	return false
}

// turnsSince lists the turns, the first one first, that came after a snapshot of the
// mission's own and that no operation has taken back; none where it is not in its history.
// What is taken back with its beginning is taken back: operations, and what was kept before
// them, have the number of the turn that they come after.
func turnsSince(m *projects.Mission, target *gitstore.Snapshot) (turns []int, err error) {
	reversals := Reversals{Project: m.Project}
	begun, back := 0, false // the turn that is walked through, as its oldest snapshot so far has it
	add := func() {
		if begun > target.Turn && !back {
			turns = append(turns, begun)
		}
	}
	for s, err := range m.Project.Store.Snapshots(m.Tip.ID, shadow.HistoryOptions{}) {
		if err != nil || s.Mission != m.ID {
			return nil, err
		}
		if s.Turn != begun {
			add()
			begun = s.Turn
		}
		if s.ID == target.ID {
			slices.Reverse(turns)
			return turns, nil
		}
		back = reversals.TookBack(s)
	}
	return nil, nil
}
