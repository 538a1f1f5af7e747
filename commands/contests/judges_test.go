package contests

import (
	"context"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/missions"
)

// followed is a Service with a contest of two forks that another command has begun: the agent
// of "one" has ended, and that of "two" works until end is closed.
type followed struct {
	missions.Service
	workspace string
	end       chan struct{}
	told      chan missions.ReportRequest // of each check
}

func newFollowed(t *testing.T) *followed {
	return &followed{workspace: t.TempDir(), end: make(chan struct{}), told: make(chan missions.ReportRequest, 4)}
}

func (s *followed) fork(name string) missions.Mission {
	m := missions.Mission{
		ID: name, Name: name, Head: "head", Workspace: s.workspace, State: missions.StateRunning, Parent: &missions.Parent{},
		Contest: &missions.Contest{ID: "contest", Check: "echo no luck; test $UMBRA_MISSION = one"},
	}
	if name == "one" {
		m.State = missions.StateClosed
	}
	return m
}

func (s *followed) Missions(context.Context, missions.MissionsRequest) ([]missions.Mission, error) {
	return []missions.Mission{s.fork("one"), s.fork("two")}, nil
}

func (s *followed) Mission(_ context.Context, r missions.MissionRequest) (missions.Mission, error) {
	return s.fork(r.Name), nil
}

func (s *followed) Show(context.Context, missions.ShowRequest) (missions.ShowResult, error) {
	return missions.ShowResult{}, nil
}

func (s *followed) Snapshot(context.Context, missions.SnapshotRequest) (missions.Entry, error) {
	return missions.Entry{}, nil
}

func (s *followed) Diff(context.Context, missions.DiffRequest) (missions.Difference, error) {
	return missions.Difference{}, nil
}

func (s *followed) Wait(context.Context, missions.WaitRequest) ([]missions.Mission, error) {
	<-s.end
	return nil, nil
}

func (s *followed) Report(_ context.Context, r missions.ReportRequest) (missions.ReportResult, error) {
	s.told <- r
	return missions.ReportResult{}, nil
}

func (s *followed) Compare(context.Context, missions.CompareRequest) (list []missions.ComparedFork, err error) {
	for _, name := range []string{"one", "two"} {
		list = append(list, missions.ComparedFork{Comparison: missions.Comparison{Mission: name}, Fork: s.fork(name)})
	}
	return list, nil
}

// goOn goes on with the contest of a followed, on a terminal.
func (s *followed) goOn(t *testing.T, watched func(*call.Call)) (b *calltest.Bench, err error) {
	b = calltest.New(t, s)
	b.Env.IsTerminal = func(any) bool { return true }
	c := &call.Call{Env: b.Env, Globals: call.Globals{Color: "never"}}
	return b, c.Do(func(c *call.Call) error {
		watched(c)
		return runContest(c, contestOptions{goesOn: true})
	})
}

// TestCheckRunsWhenItsAgentHasEnded: a fork is checked while another's agent works, and the
// parent's agent is told.
func TestCheckRunsWhenItsAgentHasEnded(t *testing.T) {
	t.Parallel()
	s := newFollowed(t)
	var told []missions.ReportRequest
	b, _ := s.goOn(t, func(*call.Call) { // two is bad, and has no exit code
		go func() {
			first := <-s.told
			told = append(told, first)
			close(s.end) // happens before the run ends
		}()
	})
	told = append(told, <-s.told)
	if len(told) != 2 || told[0].Fork != "one" || !strings.HasPrefix(told[0].Text, "good: ") || told[0].Kind != missions.UpdateChecked || !missions.IsID(told[0].ID) {
		t.Errorf("told first: %+v", told)
	}
	if last := told[len(told)-1]; last.Fork != "two" || !strings.HasPrefix(last.Text, "bad: ") || !strings.HasSuffix(last.Text, "no luck") {
		t.Errorf("told last: %+v", last)
	}
	out, said := b.Stdout.String(), b.Stderr.String()
	if after := said[strings.LastIndex(said, "\x1b[J"):]; !strings.Contains(after, "two is bad, after 0s: no luck") || !strings.Contains(after, "good: one;") {
		t.Errorf("after the table it says %q", after)
	}
	for _, row := range []string{"one   good", "two   bad"} {
		if !strings.Contains(out, row) {
			t.Errorf("%q is not in\n%s", row, out)
		}
	}
}

// TestInterruptedContestSaysWhatGoesOn: at Ctrl-C it says which agents go on, also where a
// table has shown the forks until then, and what goes on with the contest.
func TestInterruptedContestSaysWhatGoesOn(t *testing.T) {
	t.Parallel()
	s := newFollowed(t)
	t.Cleanup(func() { close(s.end) })
	b, err := s.goOn(t, func(c *call.Call) {
		ctx, cancel := context.WithCancel(c.Context)
		c.Context = ctx
		go func() {
			<-s.told // one is checked
			cancel()
		}()
	})
	said := b.Stderr.String()
	after := said[strings.LastIndex(said, "\x1b[J"):]
	if e := missions.AsError(err); e.Kind != missions.KindInterrupted || !strings.HasPrefix(e.Hint, "umbra contest --continue") || !strings.Contains(after, "two goes on\n") {
		t.Errorf("%v, hint %q, and after the table it says %q", err, e.Hint, after)
	}
}
