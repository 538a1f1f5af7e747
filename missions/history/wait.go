package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Wait returns when the missions are in one of the states, or one of them is
// if Any is set.
func (rd *Reader) Wait(ctx context.Context, r missions.WaitRequest) ([]missions.Mission, error) {
	states := r.States
	if len(states) == 0 {
		states = []missions.StateName{missions.StateIdle, missions.StateWaiting, missions.StateClosed, missions.StateError}
	}
	for _, s := range states {
		if !slices.Contains(missions.StateNames[:], s) {
			return nil, missions.Errorf(missions.KindUsage, "use initializing, running, waiting, idle, error or closed", "no state %q", s)
		}
	}
	list, err := rd.addresses.FindMissions(ctx, r.Caller, r.Missions)
	if err != nil {
		return nil, err
	}
	for _, m := range list {
		if err := m.CheckMachine(); err != nil {
			return nil, err // its agent reports to another machine
		}
	}
	var deadline time.Time
	if r.Timeout > 0 {
		deadline = rd.Now().Add(r.Timeout)
	}
	for {
		there, not, err := rd.splitByState(ctx, list, states)
		if err != nil || len(not) == 0 || r.Any && len(there) > 0 {
			return there, err
		}
		if !deadline.IsZero() && !rd.Now().Before(deadline) {
			return there, missions.Errorf(missions.KindTimeout, "", "waited %s: %s", r.Timeout, strings.Join(not, ", "))
		}
		if err := projects.Sleep(ctx, projects.PollInterval); err != nil {
			return there, err
		}
	}
}

// splitByState reads the missions again and splits them: those in one of the states, and
// the states of the others.
func (rd *Reader) splitByState(ctx context.Context, list []*projects.Mission, states []missions.StateName) (there []missions.Mission, not []string, err error) {
	there = []missions.Mission{}
	for _, old := range list {
		m, err := rd.presence.ReloadMission(ctx, old)
		if err != nil {
			return there, not, err
		}
		v := rd.presence.MissionView(m)
		if !missions.InTurn(m.Lifecycle) && rd.presence.IsAgentEngaged(ctx, m) {
			v.State = missions.StateRunning
		}
		if slices.Contains(states, v.State) {
			there = append(there, v)
		} else {
			not = append(not, describeState(v))
		}
	}
	return there, not, nil
}

// describeState says in which state a mission is instead, and what is to come.
func describeState(v missions.Mission) string {
	text := fmt.Sprintf("%s is %s", v.Name, v.StateWords())
	if v.PendingAction != "" {
		text += ", " + v.PendingAction + " is to come"
	}
	return text
}
