package keeper

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/missions"
)

// reporting is a Service that hears keepers.
type reporting struct {
	missions.Service
	keep func(missions.KeepRequest)
}

func (s reporting) Keep(_ context.Context, r missions.KeepRequest) (missions.KeepResult, error) {
	s.keep(r)
	return missions.KeepResult{Do: missions.DoExit}, nil
}

// keepsLimited keeps an agent that has this limit.
func keepsLimited(t *testing.T, svc missions.Service, stdin io.Reader, limit *timeLimit, argv ...string) error {
	t.Helper()
	b := calltest.New(t, svc)
	b.Env.Stdin = stdin
	c := &call.Call{Env: b.Env}
	return c.Do(func(c *call.Call) error {
		return keepAgent(c, svc, missions.Launch{Argv: argv, Dir: os.TempDir()}, Variables{}, limit)
	})
}

// TestTimePassesAfterTheEnd: an agent that has ended in time was not ended by its limit,
// however long its last snapshot takes.
func TestTimePassesAfterTheEnd(t *testing.T) {
	t.Parallel()
	limit := &timeLimit{}
	svc := reporting{keep: func(r missions.KeepRequest) {
		if r.Ended {
			limit.pass()
		}
	}}
	if err := keepsLimited(t, svc, nil, limit, "/bin/sh", "-c", "exit 0"); err != nil || limit.isOver() {
		t.Errorf("over %v, error %v", limit.isOver(), err)
	}
}

// TestTimePassesBeforeTheStart: an agent that starts when its time is over is ended. One
// that can't be started was not ended for that.
func TestTimePassesBeforeTheStart(t *testing.T) {
	t.Parallel()
	never, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(never.Close(), end.Close()) }()
	for program, want := range map[string]bool{"/bin/cat": true, "/nowhere/agent": false} {
		limit := &timeLimit{}
		limit.pass()
		err := keepsLimited(t, reporting{keep: func(missions.KeepRequest) {}}, never, limit, program)
		if err == nil || limit.isOver() != want {
			t.Errorf("%s: over %v, error %v", program, limit.isOver(), err)
		}
	}
}
