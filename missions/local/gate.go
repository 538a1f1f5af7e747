package local

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// Gate is a Service that refuses what would write while nothing may be written
// (Space.Low), before it begins, and lets everything else through: whoever serves
// one, or uses one itself, asks through it. An agent's events go through, since the
// agent waits for an answer: their snapshots are refused where they are taken. So
// does what makes room, or notes an agent's end, unless nothing can be written at all.
func Gate(s missions.Service, space *home.Space) missions.Service {
	return missions.NewRelay(func(ctx context.Context, m missions.Method, request, result any) error {
		if err := admit(space, m, request); err != nil {
			return err
		}
		return m.Call(ctx, s, request, result)
	})
}

// admit says why a call is refused.
func admit(s *home.Space, m missions.Method, request any) error {
	if r, ok := request.(interface{ OnlyReads() bool }); ok && r.OnlyReads() {
		return nil
	}
	switch {
	case m.Is(missions.Grows):
		return s.CheckRoom()
	case m.Is(missions.Changes):
		return s.Home.CheckWritable()
	}
	return nil
}
