package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// printed is what a command line has printed.
func printed(out, notes string, code int) outcome {
	o := outcome{out: kept{most: mostText}, notes: kept{most: mostText}, code: code}
	_, _ = o.out.Write([]byte(out))
	_, _ = o.notes.Write([]byte(notes))
	return o
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		out, notes string
		code       int
		want       string
		wrong      bool
	}{
		{"a\n", "b\n", 0, "a\n\nb", false},
		{"", "", 0, "done", false},
		{"", "umbra: no\n  hint\n", 10, "umbra: no\n  hint", true},
		{"", "a note\n" + `{"error":{"kind":"usage","message":"no","hint":"hint","exit_code":2}}` + "\n", 2, "a note\numbra: no\n  hint", true},
		{"", "{}\n", 2, "{}", true},
		{"partly\n", "", int(call.Partly), "partly", false},
		{"a\x00\xfe", "", 0, "3 bytes that are no text", false},
		{"caf\xe9 au lait\n", "", 0, "caf\uFFFD au lait", false},
	} {
		o := printed(c.out, c.notes, c.code)
		if got := o.text(); got != c.want || o.failed() != c.wrong {
			t.Errorf("%q, %q: %q, failed %v", c.out, c.notes, got, o.failed())
		}
	}
}

// TestLongOutcome: of what is too long the beginning is kept, in memory too, and no half of
// a character.
func TestLongOutcome(t *testing.T) {
	t.Parallel()
	o := printed("x", "", 0)
	const euros, times = 1 << 20, 3
	for range times {
		_, _ = o.out.Write([]byte(strings.Repeat("€", euros)))
	}
	if n := o.out.buffer.Cap(); n > 2*mostText {
		t.Errorf("%d bytes are kept", n)
	}
	want := "x" + strings.Repeat("€", (mostText-1)/len("€")) + fmt.Sprintf("\n… and %d bytes more: ask for less at once", 1+times*euros*len("€")-mostText)
	if got := o.text(); got != want {
		t.Errorf("%d bytes, ending with %q", len(got), got[len(got)-60:])
	}
	_, _ = o.out.Write([]byte{0})
	if got := o.text(); !strings.HasSuffix(got, " bytes that are no text") {
		t.Errorf("%d bytes", len(got))
	}
}

// TestDigest: another moment or other files are another plan, a conversation that goes on is
// not.
func TestDigest(t *testing.T) {
	t.Parallel()
	shown := plan{text: "restore a (login@1) to /work would:\n  change  a.txt\n  conversation: 5 events kept, 2 dropped\n"}
	for _, c := range []struct {
		text string
		same bool
	}{
		{"restore a (login@1) to /work would:\n  change  a.txt\n  conversation: 5 events kept, 4 dropped\n", true},
		{"restore a (login@1) to /work would:\n  delete  a.txt\n  conversation: 5 events kept, 2 dropped\n", false},
		{"restore b (login@2) to /work would:\n  change  a.txt\n  conversation: 5 events kept, 2 dropped\n", false},
	} {
		if same := shown.digest() == (plan{text: c.text}).digest(); same != c.same {
			t.Errorf("the same %v: %q", same, c.text)
		}
	}
}
