package mcp

import (
	"context"
	"iter"
	"os"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
)

// self is the mission whose agent has started this server, nil if Umbra knows of none. The
// agent's process tells: what the environment says may be another's, since a session that
// goes on in the background has the environment of the one that it comes from. Where no
// process above is known, it is the mission that commands mean which name none.
func (s *server) self(ctx context.Context) (*missions.Mission, error) {
	svc, closer, err := s.call.Connect(ctx, s.call.Env, s.call.Globals)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	caller, err := s.call.Caller()
	if err != nil {
		return nil, err
	}
	live, err := svc.Missions(ctx, missions.MissionsRequest{Caller: caller, All: true, Live: true})
	if err != nil {
		return nil, err
	}
	for pid := range s.above {
		for i := range live {
			if live[i].PID == pid {
				return &live[i], nil
			}
		}
	}
	if m, err := svc.Mission(ctx, missions.MissionRequest{Caller: caller}); err == nil {
		return &m, nil
	}
	return nil, nil // what the tool runs says why, if it needs one
}

// processesAbove are those that this server descends from.
func processesAbove() iter.Seq[int] { return presence.ProcessesAbove(os.Getppid()) }
