package contests

import (
	"context"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/missions"
)

// twoForks is a Service with two forks of a contest, in which no agent has begun.
type twoForks struct{ missions.Service }

func (twoForks) Fork(context.Context, missions.ForkRequest) (missions.ForkResult, error) {
	var r missions.ForkResult
	for _, name := range []string{"one", "two"} {
		r.Missions = append(r.Missions, missions.Mission{ID: name + "-id", Name: name, PromptKept: true, Contest: &missions.Contest{ID: "contest"}})
	}
	return r, nil
}

func (twoForks) Mission(_ context.Context, r missions.MissionRequest) (missions.Mission, error) {
	return missions.Mission{ID: r.Name}, nil
}

func (twoForks) Compare(context.Context, missions.CompareRequest) ([]missions.ComparedFork, error) {
	return []missions.ComparedFork{{Comparison: missions.Comparison{Mission: "one"}}, {Comparison: missions.Comparison{Mission: "two"}}}, nil
}

// TestContestSaysWhatFailed: on a terminal, where a table shows the forks until all have
// ended, it says afterwards why one has failed, and what sends its prompt.
func TestContestSaysWhatFailed(t *testing.T) {
	t.Parallel()
	b := calltest.New(t, twoForks{})
	b.Env.IsTerminal = func(any) bool { return true }
	b.Env.Executable = func() (string, error) { return "/nowhere/umbra", nil } // so no keeper begins
	c := &call.Call{Env: b.Env, Globals: call.Globals{Color: "never"}}
	err := c.Do(func(c *call.Call) error { return runContest(c, contestOptions{count: 2}) })
	_, after, erased := strings.Cut(b.Stderr.String(), "\x1b[J")
	for _, name := range []string{"one", "two"} {
		if want := "  to send its prompt: umbra mission resume " + name + "\n"; !erased || !strings.Contains(after, want) {
			t.Errorf("%v: after the table, want %q in\n%q", err, want, b.Stderr.String())
		}
	}
}
