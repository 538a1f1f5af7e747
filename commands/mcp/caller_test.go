package mcp

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/missions"
)

// twoLive has the agents of two missions; the environment names the first of them.
type twoLive struct{ missions.Service }

func (twoLive) Missions(context.Context, missions.MissionsRequest) ([]missions.Mission, error) {
	return []missions.Mission{{ID: "one", PID: 100}, {ID: "two", PID: 200}, {ID: "none"}}, nil
}

func (twoLive) Mission(_ context.Context, r missions.MissionRequest) (missions.Mission, error) {
	if r.Caller.Mission != "one" {
		return missions.Mission{}, errors.New("no mission here")
	}
	return missions.Mission{ID: "one"}, nil
}

// TestSelf: the mission is that of the agent's process, whatever the environment says.
func TestSelf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		above    []int
		variable string
		want     string
	}{
		{[]int{50, 200, 100}, "one", "two"}, // an agent that the first one's agent has begun, or goes on in the background
		{[]int{50, 100}, "", "one"},
		{[]int{50}, "one", "one"},
		{nil, "", ""},
		{nil, "gone", ""},
	} {
		b := calltest.New(t, twoLive{})
		b.Env = named(b.Env, c.variable)
		s := &server{call: &call.Call{Env: b.Env}, above: slices.Values(c.above)}
		m, err := s.self(t.Context())
		if err != nil || idOf(m) != c.want {
			t.Errorf("%+v: %v, %v", c, m, err)
		}
		if b.Closed != 1 {
			t.Errorf("%+v: the Service was closed %d times", c, b.Closed)
		}
	}
}

// TestWorldOfMission: what a tool runs is run as a command of the mission's agent.
func TestWorldOfMission(t *testing.T) {
	t.Parallel()
	env := named(calltest.New(t, nil).Env, "one")
	env = named(env, "two")
	if got := env.Getenv(variable); got != "two" {
		t.Errorf("$%s is %q", variable, got)
	}
	if got := env.Environ(); !slices.Equal(got, []string{variable + "=two"}) {
		t.Errorf("the environment is %q", got)
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outcome
		want  string
		wrong bool
	}{
		{outcome{out: "a\n", notes: "b\n"}, "a\n\nb", false},
		{outcome{}, "done", false},
		{outcome{notes: "umbra: no\n  hint\n", code: 10}, "umbra: no\n  hint", true},
		{outcome{out: "partly\n", code: int(call.Partly)}, "partly", false},
		{outcome{out: "a\x00\xfe"}, "3 bytes that are no text", false},
		{outcome{out: "caf\xe9 au lait\n"}, "caf\uFFFD au lait", false},
	} {
		if got := c.text(); got != c.want || c.failed() != c.wrong {
			t.Errorf("%+v: %q, failed %v", c.outcome, got, c.failed())
		}
	}
	long := make([]byte, mostText+10)
	for i := range long {
		long[i] = 'x'
	}
	if got := (outcome{out: string(long)}).text(); len(got) > mostText+100 {
		t.Errorf("%d bytes", len(got))
	}
}

// TestShown: another moment or other files are another plan, a conversation that goes on is
// not.
func TestShown(t *testing.T) {
	t.Parallel()
	plan := "restore a (login@1) to /work would:\n  change  a.txt\n  conversation: 5 events kept, 2 dropped\n"
	for _, c := range []struct {
		out  string
		same bool
	}{
		{"restore a (login@1) to /work would:\n  change  a.txt\n  conversation: 5 events kept, 4 dropped\n", true},
		{"restore a (login@1) to /work would:\n  delete  a.txt\n  conversation: 5 events kept, 2 dropped\n", false},
		{"restore b (login@2) to /work would:\n  change  a.txt\n  conversation: 5 events kept, 2 dropped\n", false},
	} {
		if same := shown(outcome{out: plan}) == shown(outcome{out: c.out}); same != c.same {
			t.Errorf("the same %v: %q", same, c.out)
		}
	}
}
