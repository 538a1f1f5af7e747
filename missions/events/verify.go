package events

import (
	"context"
	"slices"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// VerifyWorkspace walks over a workspace although its watcher says what has changed, and
// takes a snapshot if that was not all. While a mission there is in a turn the
// next snapshot walks. It is for the process that watches; why is for people.
func (l *Listener) VerifyWorkspace(ctx context.Context, root, why string) error {
	live := l.LiveMissionsIn(root)
	if len(live) == 0 {
		return nil
	}
	l.snapshots.RequestWalk(root, why)
	if slices.ContainsFunc(live, func(m *projects.Mission) bool { return missions.InTurn(m.Lifecycle) }) {
		return nil
	}
	defer l.snapshots.TakeWalkReason(root) // if nothing was captured after all
	return l.Observe(ctx, root, missions.SawQuiet)
}
