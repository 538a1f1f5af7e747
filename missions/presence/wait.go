package presence

import (
	"context"

	"github.com/umbra-vcs/umbra/missions/projects"
)

// ReloadMission reads a mission again, closing it if its agent is gone.
func (o *Observer) ReloadMission(ctx context.Context, old *projects.Mission) (*projects.Mission, error) {
	m, err := o.LoadMission(old.Project, old.ID)
	if err != nil || !o.IsAgentGone(m) {
		return m, err
	}
	if err := o.CloseLostMission(ctx, m); err != nil {
		o.Logger.Warn("close a lost mission", "mission", m.ID, "error", err)
		return m, nil
	}
	return o.LoadMission(old.Project, old.ID)
}
