package keeper

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/missions"
)

// reporting is a Service that hears keepers.
type reporting struct {
	missions.Service
	keep func(missions.KeepRequest)
}

func (reporting) Launch(context.Context, missions.LaunchRequest) (missions.Launch, error) {
	return missions.Launch{Argv: []string{"/bin/sh", "-c", "exit 0"}, Dir: os.TempDir()}, nil
}

func (reporting) Mission(context.Context, missions.MissionRequest) (missions.Mission, error) {
	return missions.Mission{}, missions.Errorf(missions.KindBusy, "", "nobody is there to ask")
}

func (s reporting) Keep(_ context.Context, r missions.KeepRequest) (missions.KeepResult, error) {
	s.keep(r)
	return missions.KeepResult{Do: missions.DoExit}, nil
}

// shared gives a world's output a file, as a keeper has one: its agent writes to it by
// itself.
func shared(t *testing.T, b *calltest.Bench) (said func() string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "said")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	b.Env.Stdout, b.Env.Stderr = file, file
	return func() string {
		t.Helper()
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
}

// keepsLimited keeps an agent that has this limit.
func keepsLimited(t *testing.T, svc missions.Service, stdin io.Reader, limit *timeLimit, argv ...string) error {
	t.Helper()
	b := calltest.New(t, svc)
	b.Env.Stdin = stdin
	shared(t, b)
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

// TestAnswerIsNotReported: where the answer of an agent can't be reported, the agent has
// ended well all the same.
func TestAnswerIsNotReported(t *testing.T) {
	t.Parallel()
	b := calltest.New(t, reporting{keep: func(missions.KeepRequest) {}})
	b.Env.Stdin = nil
	written := shared(t, b)
	c := &call.Call{Env: b.Env}
	err := c.Do(func(c *call.Call) error { return keepHeadless(c, "m", headlessOptions{}) })
	if said := written(); err != nil || !strings.Contains(said, "note: its parent is not told how it ended: nobody is there to ask") {
		t.Errorf("error %v, and it says %q", err, said)
	}
}

// TestDetachedLaunchesWaitLonger: of many that wait for their turn, and that nobody waits
// for, each asks every ten seconds in the end.
func TestDetachedLaunchesWaitLonger(t *testing.T) {
	t.Parallel()
	for starter, want := range map[int]time.Duration{0: 10 * time.Second, 1: turnPause} {
		pause := turnPause
		for range 10 {
			pause = nextPause(pause, starter)
		}
		if pause != want {
			t.Errorf("with the starter %d the pause becomes %s, want %s", starter, pause, want)
		}
	}
}
