package updates

import (
	"context"
	"slices"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Updates lists the updates for a mission's agent, the oldest first. It changes nothing, also
// where the conversation shows one that is still said to wait.
func (c *Courier) Updates(ctx context.Context, r missions.UpdatesRequest) ([]missions.Update, error) {
	m, err := c.addresses.FindMission(ctx, r.Caller, r.Mission, addresses.InAnyProject)
	if err != nil {
		return nil, err
	}
	list := []missions.Update{}
	waiting := c.waiting(m)
	if r.All {
		told, err := boxOf(m).told()
		if err != nil {
			c.Logger.Warn("read updates", "mission", m.ID, "error", err)
		}
		waiting = append(waiting, told...)
	}
	shown := shownIn(m, waiting)
	for _, d := range waiting {
		if d.Waits() && shown[d.ID] {
			d.DeliveredAt = d.deliveryTime(c.Now())
		}
		if r.All || d.Waits() {
			list = append(list, c.view(m, d))
		}
	}
	slices.SortStableFunc(list, func(x, y missions.Update) int { return x.At.Compare(y.At) })
	return list, nil
}

// ClearUpdates takes the updates that wait out of a mission's queue, and returns them. They
// stay readable.
func (c *Courier) ClearUpdates(ctx context.Context, r missions.UpdatesRequest) ([]missions.Update, error) {
	m, err := c.addresses.FindMission(ctx, r.Caller, r.Mission, addresses.InProject)
	if err != nil {
		return nil, err
	}
	list := []missions.Update{}
	err = c.WithMissionLock(ctx, m, c.WithWorkspaceLock, func(m *projects.Mission) error {
		c.Settle(m, false)
		waiting, err := boxOf(m).waiting()
		if err != nil && len(waiting) == 0 {
			return err
		}
		for _, d := range waiting {
			d.ClearedAt = c.Now()
			if err := boxOf(m).retire(d); err != nil {
				return err
			}
			list = append(list, c.view(m, d))
		}
		return nil
	})
	return list, err
}

// view is an update as its reader sees it: with the names that missions have now.
func (c *Courier) view(m *projects.Mission, d document) missions.Update {
	from := d.From
	if sender, err := c.LoadMissionOrRemoved(m.Project, d.FromID); d.FromID != "" && err == nil {
		from = sender.Name
	}
	d.Own = !d.Waits() && d.ClearedAt.IsZero() && d.GivenAt.IsZero() && boxOf(m).isOwn(d, m.Stored.Session)
	return viewOf(d.Update, from, m.Name)
}

func viewOf(u missions.Update, from, to string) missions.Update {
	u.From, u.Mission = from, to
	return u
}
