package presence

import (
	"time"

	"github.com/umbra-vcs/umbra/missions/projects"
)

// LateSnapshotGrace is how late a snapshot may be taken and still count as its turn's work.
// After that, others may have changed files.
const LateSnapshotGrace = time.Minute

// Making says whose the changes between two neighbouring snapshots are.
type Making struct {
	// Gap says that snapshots were pruned between the two.
	Gap bool
	all bool
	// others are the paths that others changed in what was pruned; nil if nobody knows.
	others map[string]bool
}

// All reports whether the mission has made all of it.
func (m Making) All() bool { return m.all || m.others != nil && len(m.others) == 0 }

// Any reports whether the mission has made some of it, or may have.
func (m Making) Any() bool { return m.all || m.others != nil }

// Path reports whether the mission has made what changed at a path, and nobody else.
func (m Making) Path(path string) bool { return m.all || m.others != nil && !m.others[path] }

// WhoMade tells which changes between two neighbouring snapshots the mission has made itself:
// in a turn, by an operation such as a restore, or by a command without turns while it ran.
// hasTurns is whether the mission has turns at all. For snapshots that were pruned in between,
// it reads the paths that the pruning has noted.
func WhoMade(p *projects.Project, before, after projects.NumberedSnapshot, hasTurns bool) (Making, error) {
	if after.PrunedAt.IsZero() {
		own, err := madeByMission(p, before, after, hasTurns)
		return Making{all: own}, err
	}
	m := Making{Gap: true}
	paths, err := p.PrunedPaths.Others(p.Store, after.ID)
	if err != nil || paths == nil {
		return m, err
	}
	m.others = map[string]bool{}
	for _, path := range paths {
		m.others[path] = true
	}
	return m, nil
}

func madeByMission(p *projects.Project, before, after projects.NumberedSnapshot, hasTurns bool) (bool, error) {
	inside := before.Turn == after.Turn && before.TakenInTurn()
	if inside && after.Late {
		info, err := p.ReadSnapshotInfo(after.Snapshot)
		if err != nil && !projects.IsObjectLost(err) {
			return false, err
		}
		inside = err == nil && (info.RequestedAt.IsZero() || after.At.Sub(info.RequestedAt) < LateSnapshotGrace)
	}
	switch {
	case inside, projects.TriggersOf(after.Snapshot).Operation() != "":
		return true, nil
	case before.IsClosed():
		return false, nil
	case !hasTurns:
		return true, nil
	}
	return IsWithoutHooks(p, after.Snapshot)
}
