package presence

import (
	"time"

	"github.com/umbra-vcs/umbra/missions/projects"
)

// LateSnapshotGrace is how late a late snapshot may be and still count for what its
// turn has done. Later, others may have been at work.
const LateSnapshotGrace = time.Minute

// MadeByMission reports whether a mission has itself made what changed between two
// neighbouring snapshots: in a turn, by an operation such as a restore, or while its
// command ran that has no turns. hasTurns is whether the mission has turns at all.
func MadeByMission(p *projects.Project, before, after projects.NumberedSnapshot, hasTurns bool) (bool, error) {
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
