package missions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// mayBegin refuses another live mission where there are as many as there may be;
// self is not counted. Sessions that were started by hand count, and are never
// refused: nobody asked.
func (l *Local) mayBegin(c Caller, self string) error {
	config, err := l.configOf(c)
	most := config.Missions.MaxLive
	if err != nil {
		return err
	}
	if most <= 0 {
		return nil
	}
	live, err := l.liveNames(self)
	if err != nil {
		return err
	}
	if len(live) < most {
		return nil
	}
	return Errorf(KindBusy, "umbra mission stop "+live[0]+", or umbra config set missions.max_live "+itoa(len(live)+1),
		"%s live already (%s), and missions.max_live is %d", areMissions(len(live)), strings.Join(live, ", "), most)
}

func areMissions(n int) string {
	if n == 1 {
		return "1 mission is"
	}
	return fmt.Sprintf("%d missions are", n)
}

// liveNames names the missions that have an agent, or a keeper that is about to
// start one.
func (l *Local) liveNames(but string) ([]string, error) {
	ids, err := l.journal.LiveMissions()
	if err != nil {
		return nil, fmt.Errorf("count live missions: %w", err)
	}
	var names []string
	for _, id := range ids {
		raw, err := l.journal.Live(id)
		var state live
		if id == but || err != nil || json.Unmarshal(raw, &state) != nil || state.Provisional != "" {
			continue
		}
		if _, alive := state.process(); !alive && !l.mayLive(id) {
			continue
		}
		m, err := l.missionByID(id)
		if err == nil && (m.live.kept() || HasAgent(m.life) && !l.gone(m)) {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// launching keeps others from launching an agent while it is counted how many
// there are. The lock is nil where there is no limit.
func (l *Local) launching(ctx context.Context, c Caller) (release func(), err error) {
	config, err := l.configOf(c)
	if err != nil {
		return nil, err
	}
	if config.Missions.MaxLive <= 0 {
		return func() {}, nil
	}
	held, err := lock.Wait(ctx, l.home.path("locks", "launches"), lock.Exclusive, l.self)
	if err != nil {
		return nil, busy(err)
	}
	return func() {
		if err := held.Release(); err != nil {
			l.log.Warn("release a lock", "lock", "launches", "error", err)
		}
	}, nil
}
