package commands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// kept is a Service that gives a keeper one command to launch.
type kept struct {
	missions.Service
	command []string
	hears   func(missions.KeepRequest) (missions.KeepResult, error)
	busy    bool // until whoever tells of a start waits no more
}

func (k kept) Mission(context.Context, missions.MissionRequest) (missions.Mission, error) {
	return missions.Mission{ID: "1", Name: "one"}, nil
}

func (k kept) Launch(context.Context, missions.LaunchRequest) (missions.Launch, error) {
	return missions.Launch{ID: "first", Argv: k.command, Dir: "/", Mission: missions.Mission{ID: "1", Name: "one"}}, nil
}

func (k kept) Keep(ctx context.Context, r missions.KeepRequest) (missions.KeepResult, error) {
	if k.busy && !r.Ended {
		<-ctx.Done()
		return missions.KeepResult{}, ctx.Err()
	}
	return k.hears(r)
}

// keeps runs a keeper and returns its exit code, and what it and its agent have said.
func keeps(t *testing.T, k kept) (int, string) {
	t.Helper()
	b := newBench(t, k)
	b.Env.Environ = func() []string { return []string{"PATH=" + os.Getenv("PATH")} }
	said, err := os.Create(filepath.Join(t.TempDir(), "said")) // of a file the agent has its own
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	b.Env.Stdout, b.Env.Stderr = said, said
	code := b.run("mission", "resume", "one")
	text, err := os.ReadFile(said.Name())
	if err != nil {
		t.Fatal(err)
	}
	return code, string(text)
}

// TestKeeperTellsOfTheStart: where several daemons stop one after the other, the
// start of the agent is told until one hears it. This agent waits for that.
func TestKeeperTellsOfTheStart(t *testing.T) {
	t.Parallel()
	heard := filepath.Join(t.TempDir(), "heard")
	var told atomic.Int32
	hears := func(r missions.KeepRequest) (missions.KeepResult, error) {
		if r.Ended {
			return missions.KeepResult{Do: missions.DoExit}, nil
		}
		if told.Add(1) < 4 {
			return missions.KeepResult{}, missions.Errorf(missions.KindNoDaemon, "", "nothing was done: it is stopping")
		}
		return missions.KeepResult{Do: missions.DoExit}, os.WriteFile(heard, nil, 0o600)
	}
	wait := fmt.Sprintf("n=0; until [ -e '%s' ]; do n=$((n+1)); [ $n -lt 6000 ] || exit 3; sleep 0.01; done", heard)
	if code, said := keeps(t, kept{command: []string{"/bin/sh", "-c", wait}, hears: hears}); code != 0 || told.Load() != 4 {
		t.Errorf("exit code %d, told %d times: %s", code, told.Load(), said)
	}
}

// TestKeeperOfAShortAgent: one that has ended is not waited for by the report of its
// start, which nobody hears.
func TestKeeperOfAShortAgent(t *testing.T) {
	t.Parallel()
	ended := false
	hears := func(r missions.KeepRequest) (missions.KeepResult, error) {
		if r.Ended {
			ended = true
			return missions.KeepResult{Do: missions.DoExit}, nil
		}
		return missions.KeepResult{}, missions.Errorf(missions.KindNoDaemon, "", "nothing was done: it is stopping")
	}
	if code, said := keeps(t, kept{command: []string{"/bin/sh", "-c", "exit 7"}, hears: hears}); code != 7 || !ended {
		t.Errorf("exit code %d, ended %v: %s", code, ended, said)
	}
}

// TestKeeperOfABusyService: an answer to the start of an agent that comes late, as
// while another holds the workspace, is not waited for when the agent has ended.
func TestKeeperOfABusyService(t *testing.T) {
	t.Parallel()
	ended := false
	hears := func(r missions.KeepRequest) (missions.KeepResult, error) {
		ended = r.Ended
		return missions.KeepResult{Do: missions.DoExit}, nil
	}
	code, said := keeps(t, kept{command: []string{"/bin/sh", "-c", "exit 7"}, hears: hears, busy: true})
	if code != 7 || !ended || strings.Contains(said, "could not be noted") {
		t.Errorf("exit code %d, ended %v: %s", code, ended, said)
	}
}
