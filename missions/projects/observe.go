package projects

import (
	"encoding/json"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
)

// LiveMissionsIn lists the missions with an agent in a workspace.
func (d *Desk) LiveMissionsIn(root string) []*Mission {
	return slices.DeleteFunc(d.LiveMissions(), func(m *Mission) bool { return m.Binding.Workspace != root })
}

// LiveMissions lists the missions with an agent, which are not to be changed.
// Only those with a state in the journal can have one, and only what has changed
// since the last time is read.
func (d *Desk) LiveMissions() []*Mission {
	ids, err := d.Journal.LiveMissions()
	if err != nil {
		d.Logger.Warn("list live missions", "error", err)
		return nil
	}
	var list []*Mission
	for _, id := range ids {
		if m := d.liveMission(id); m != nil {
			list = append(list, m)
		}
	}
	return list
}

// MayHaveAgent reports whether a mission's state in the journal has an agent.
func (d *Desk) MayHaveAgent(id string) bool {
	raw, err := d.Journal.Live(id)
	var state Live
	if err != nil || json.Unmarshal(raw, &state) != nil || state.LifecycleJSON == nil {
		return true // the record says it
	}
	life, err := missions.UnmarshalLifecycle(state.LifecycleJSON)
	return err != nil || missions.HasAgent(life)
}

// Process is an agent's process, or its keeper's. It is still told apart when its
// pid has been used again.
type Process = lock.Owner
