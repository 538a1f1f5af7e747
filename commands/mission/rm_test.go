package mission

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/missions"
)

// removable is a Service with missions that can be removed, but for live ones.
type removable struct {
	missions.Service
	live    []string // from the beginning
	begins  []string // once all are listed
	fails   []string // to be removed, for another reason
	removed []string
}

func (s *removable) Remove(_ context.Context, r missions.RemoveRequest) (missions.RemoveResult, error) {
	name := r.Missions[0]
	switch {
	case slices.Contains(s.live, name) || !r.Preview && slices.Contains(s.begins, name):
		return missions.RemoveResult{}, missions.Errorf(missions.KindBusy, "umbra mission stop "+name, "mission %s has an agent at work", name)
	case !r.Preview && slices.Contains(s.fails, name):
		return missions.RemoveResult{}, missions.Errorf(missions.KindFailed, "", "no room for %s", name)
	case !r.Preview:
		s.removed = append(s.removed, name)
	}
	return missions.RemoveResult{Missions: []missions.Mission{{ID: name, Name: name}}}, nil
}

// TestRemoveGoesOn: a live mission among others stays, is named with what to type, and decides
// the exit code. The others are removed, wherever it stands and whenever its agent began.
func TestRemoveGoesOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		svc     removable
		kind    missions.Kind
		removed string
		said    []string
	}{
		"live in the middle":  {removable{live: []string{"b"}}, missions.KindBusy, "a c d", []string{"mission b has an agent at work"}},
		"two live":            {removable{live: []string{"a", "c"}}, missions.KindBusy, "b d", []string{"mission a has", "mission c has"}},
		"all live":            {removable{live: []string{"a", "b", "c", "d"}}, missions.KindBusy, "", []string{"mission d has"}},
		"begins meanwhile":    {removable{begins: []string{"a", "b"}}, missions.KindBusy, "c d", []string{"mission a has", "mission b has"}},
		"live, and one fails": {removable{live: []string{"a"}, fails: []string{"c"}}, missions.KindBusy, "b", []string{"mission a has", "no room for c"}},
		"none is live":        {removable{}, "", "a b c d", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := calltest.New(t, &c.svc)
			run := &call.Call{Env: b.Env, Globals: call.Globals{Yes: true}, Arguments: []string{"a", "b", "c", "d"}}
			err := run.Do(func(c *call.Call) error { return runMissionRm(c, missionRmOptions{}) })
			if err == nil && c.kind != "" || err != nil && missions.AsError(err).Kind != c.kind {
				t.Errorf("%v, want %q", err, c.kind)
			}
			for _, text := range c.said {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%v does not say %q", err, text)
				}
			}
			if got := strings.Join(c.svc.removed, " "); got != c.removed {
				t.Errorf("removed %q, want %q", got, c.removed)
			}
			var told []string
			for line := range strings.Lines(b.Stdout.String()) {
				told = append(told, strings.TrimSuffix(line, " removed\n"))
			}
			if got := strings.Join(told, " "); got != c.removed {
				t.Errorf("told %q, want %q", got, c.removed)
			}
		})
	}
}
