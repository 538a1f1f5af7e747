package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// CheckLiveLimit refuses another live mission if there are as many as the configuration
// allows; self does not count. Sessions that the user started without Umbra count too,
// and are never refused.
func (l *Launcher) CheckLiveLimit(c missions.Caller, self string) error {
	config, err := l.CallerConfig(c)
	most := config.Missions.MaxLive
	if err != nil {
		return err
	}
	if most <= 0 {
		return nil
	}
	live, err := l.liveMissionNames(self)
	if err != nil {
		return err
	}
	if len(live) < most {
		return nil
	}
	refused := missions.Errorf(missions.KindBusy, "umbra mission stop "+live[0]+", or umbra config set missions.max_live "+missions.Itoa(len(live)+1),
		"%s live already (%s), and missions.max_live is %d", missionCountText(len(live)), strings.Join(live, ", "), most)
	refused.Details, err = json.Marshal(missions.LiveLimit{MaxLive: most})
	return errors.Join(refused, err)
}

func missionCountText(n int) string {
	if n == 1 {
		return "1 mission is"
	}
	return fmt.Sprintf("%d missions are", n)
}

// liveMissionNames names the missions that have an agent, or a keeper that is about to
// start one.
func (l *Launcher) liveMissionNames(but string) ([]string, error) {
	ids, err := l.Journal.LiveMissions()
	if err != nil {
		return nil, fmt.Errorf("count live missions: %w", err)
	}
	var names []string
	for _, id := range ids {
		raw, err := l.Journal.Live(id)
		var state projects.Live
		if id == but || err != nil || json.Unmarshal(raw, &state) != nil || state.ProvisionalSnapshot != "" {
			continue
		}
		if _, alive := state.LivingProcess(); !alive && !l.MayHaveAgent(id) {
			continue
		}
		m, err := l.MissionByID(id)
		if err == nil && (m.Live.HasKeeper() || missions.HasAgent(m.Lifecycle) && !l.presence.IsAgentGone(m)) {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// lockLaunches keeps other processes from launching an agent while the live missions
// are counted. Where there is no limit it takes no lock.
func (l *Launcher) lockLaunches(ctx context.Context, c missions.Caller) (release func(), err error) {
	config, err := l.CallerConfig(c)
	if err != nil {
		return nil, err
	}
	if config.Missions.MaxLive <= 0 {
		return func() {}, nil
	}
	held, err := lock.Wait(ctx, l.Home.Path("locks", "launches"), lock.Exclusive, l.Self)
	if err != nil {
		return nil, home.LockError(err)
	}
	return func() {
		if err := held.Release(); err != nil {
			l.Logger.Warn("release a lock", "lock", "launches", "error", err)
		}
	}, nil
}
