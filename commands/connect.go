package commands

import (
	"context"
	"io"

	"github.com/umbra-vcs/umbra/missions"
)

// connect is the one place that decides where the Service runs.
func connect(context.Context, Env, Globals) (missions.Service, io.Closer, error) {
	return nil, nil, missions.Errorf(missions.KindFailed, "", "no service")
}
