package events

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
)

// ObserveWorkingAgents is Observe of SawQuiet for the agents that were at work at the last
// look, and for no other.
func (l *Listener) ObserveWorkingAgents(ctx context.Context, root string) error {
	if err := l.lookAfterTurns(ctx, root); err != nil {
		return err
	}
	for _, m := range l.LiveMissionsIn(root) {
		if !l.presence.NeedsLook(m) {
			continue
		}
		if err := l.ObserveMission(ctx, m, missions.SawQuiet); err != nil {
			return err
		}
	}
	return nil
}

// ObserveWokenAgents is Observe of SawChange for the agents in a workspace that waited for
// their users and have been at work since it was last called, though nothing has
// changed there.
func (l *Listener) ObserveWokenAgents(ctx context.Context, root string) error {
	if err := l.lookAfterTurns(ctx, root); err != nil {
		return err
	}
	for _, m := range l.LiveMissionsIn(root) {
		now := l.Now()
		if missions.InTurn(m.Lifecycle) || !l.presence.ReportsNothing(m) || presence.IsRecent(now, l.presence.ProcessLooks.LastLook(m.ID).At, presence.MinLookInterval) {
			continue
		}
		this, before, ok := l.presence.ProcessLooks.LookAt(m, now)
		if !ok || this.CpuShare(before) < presence.MinWorkShare {
			continue
		}
		if err := l.ObserveMission(ctx, m, missions.SawChange); err != nil {
			return err
		}
	}
	return nil
}
