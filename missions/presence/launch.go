package presence

import (
	"context"
	"os"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// RemoveLaunchFiles takes away what the launch of an agent had that has ended: settings
// may hold what nobody else is to read.
func (o *Observer) RemoveLaunchFiles(m *projects.Mission) {
	if err := os.RemoveAll(o.LaunchDir(m)); err != nil {
		o.Logger.Warn("take away what a launch had", "mission", m.ID, "error", err)
	}
}

// LaunchDir is where files for a mission's launch are.
func (o *Observer) LaunchDir(m *projects.Mission) string {
	return o.Home.Path("agents", "launch", m.ID)
}

// CloseLostMission closes a mission whose agent is gone without a word.
func (o *Observer) CloseLostMission(ctx context.Context, m *projects.Mission) error {
	return o.CloseDeadMission(ctx, m, func(m *projects.Mission) (missions.Event, bool) {
		boot := m.Live.LastBoot()
		return missions.AgentVanished{LongAgo: boot != "" && boot != o.Self.Boot}, missions.HasAgent(m.Lifecycle)
	})
}

// CloseDeadMission closes a mission that has no process any more, by the event that of gives, if it
// still does.
func (o *Observer) CloseDeadMission(ctx context.Context, m *projects.Mission, of func(*projects.Mission) (missions.Event, bool)) error {
	r := &snapshots.Request{Event: missions.AgentVanished{}}
	r.Prepare = func(m *projects.Mission) (bool, error) {
		event, ok := of(m)
		if _, alive := m.Live.LivingProcess(); alive || !ok {
			return false, nil
		}
		r.Event = event
		o.RemoveLaunchFiles(m)
		m.Live.Keeper, m.Live.Agent, m.Live.KeeperChild, m.Live.Handover = nil, nil, nil, nil
		return true, nil
	}
	_, err := o.snapshots.SubmitRequest(ctx, m.Project, m.ID, r)
	return err
}
