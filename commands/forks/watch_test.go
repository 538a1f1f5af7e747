package forks

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/missions"
)

// oneFork is a Service in which a fork has taken its prompt, and has answered nothing.
type oneFork struct{ missions.Service }

func (oneFork) Mission(context.Context, missions.MissionRequest) (missions.Mission, error) {
	return missions.Mission{}, nil
}

func (oneFork) Diff(context.Context, missions.DiffRequest) (missions.Difference, error) {
	return missions.Difference{}, nil
}

// TestEndings: what becomes of a fork is what its keeper says and how the keeper ends,
// however late the run takes that in.
func TestEndings(t *testing.T) {
	t.Parallel()
	const begun, timedOut = "id fork", "umbra: fork was ended after 1s"
	const nothing, send = ": 0 turns, 1s, 0 files changed\n", "  to send its prompt: umbra mission resume fork\n"
	for name, c := range map[string]struct {
		lines []string
		code  int
		ended Ending
		says  string
	}{
		"answered":              {[]string{begun, "fork: 1 turn is kept"}, 0, EndedByItself, "fork has answered" + nothing},
		"timed out":             {[]string{begun, timedOut, "  umbra mission resume fork goes on"}, 15, EndedTimeout, "fork was ended after 1s" + nothing},
		"the agent's own 15":    {[]string{begun}, 15, EndedByItself, "fork ended with exit code 15" + nothing},
		"the agent's own 125":   {[]string{begun}, 125, EndedByItself, "fork ended with exit code 125" + nothing},
		"not started":           {[]string{begun, "umbra: start it: no", "  type that"}, 125, EndedNotBegun, "fork has not begun\n  start it: no\n" + send},
		"refused":               {[]string{"umbra: it is live", "  go to it"}, 11, EndedNotBegun, "fork has not begun\n  it is live\n" + send},
		"its keeper was killed": {[]string{begun}, -1, EndedKilled, "fork is not kept any more" + nothing + "  its keeper was killed\n"},
		"killed as it waits":    {[]string{"waits for its turn"}, -1, EndedNotBegun, "fork has not begun\n  its keeper was killed\n" + send},
	} {
		b := calltest.New(t, oneFork{})
		run := &run{c: &call.Call{Env: b.Env}, svc: oneFork{}, timeout: time.Second}
		run.forks = []*background{{mission: missions.Mission{ID: "id", Name: "fork", Parent: &missions.Parent{}}, outcome: Outcome{Mission: "fork", Ended: EndedNotBegun, PromptKept: true}}}
		err := run.c.Do(func(*call.Call) error {
			run.lines = run.c.Out
			for _, line := range c.lines {
				run.take(keeperEvent{mission: "id", at: b.Env.Now(), line: line})
			}
			run.take(keeperEvent{mission: "id", at: b.Env.Now().Add(time.Second), ended: true, code: c.code})
			return nil
		})
		if o := run.forks[0].outcome; err != nil || o.Ended != c.ended || b.Stdout.String() != c.says {
			t.Errorf("%s: %+v, %v, and it says %q", name, o, err, b.Stdout.String())
		}
	}
}

// TestNotesOfWatchedForks: what a keeper notes beneath a table is said when the table is gone.
func TestNotesOfWatchedForks(t *testing.T) {
	t.Parallel()
	b := calltest.New(t, oneFork{})
	run := &run{c: &call.Call{Env: b.Env}, svc: oneFork{}, watch: func([]Standing) {}}
	run.forks = []*background{{mission: missions.Mission{ID: "id", Name: "fork"}, begun: b.Env.Now()}}
	err := run.c.Do(func(*call.Call) error {
		run.take(keeperEvent{mission: "id", line: "note: its parent is not told how it ended: it is gone"})
		return nil
	})
	if notes := run.forks[0].outcome.Notes; err != nil || len(notes) != 1 || notes[0] != "its parent is not told how it ended: it is gone" || b.Stderr.Len() > 0 {
		t.Errorf("%v, noted %q, and it says %q", err, notes, b.Stderr.String())
	}
}

// TestMailboxKeepsAll: nobody who says something waits for the reader.
func TestMailboxKeepsAll(t *testing.T) {
	t.Parallel()
	box := newMailbox()
	lines := &lineWriter{line: func(line string) { box.put(keeperEvent{line: line}) }}
	if _, err := lines.Write([]byte(strings.Repeat("said\r\n", 3) + "not yet")); err != nil {
		t.Fatal(err)
	}
	<-box.more
	if got := box.takeAll(); len(got) != 3 || got[2].line != "said" || len(box.takeAll()) != 0 {
		t.Errorf("taken: %+v", got)
	}
}

// TestInterruptLeavesWhatOthersStarted: at Ctrl-C an agent that another command has started
// goes on, and is not stopped later either.
func TestInterruptLeavesWhatOthersStarted(t *testing.T) {
	t.Parallel()
	b := calltest.New(t, oneFork{})
	run := &run{c: &call.Call{Env: b.Env}, svc: oneFork{}, started: 1} // whose Stop is nil
	run.forks = []*background{{mission: missions.Mission{ID: "id", Name: "fork"}, isFollowed: true, begun: b.Env.Now()}}
	err := run.c.Do(func(*call.Call) error {
		run.terminate()
		run.stop()
		return nil
	})
	if said := b.Stderr.String(); err != nil || run.living() || said != "fork goes on\n" {
		t.Errorf("living %v, %v, and it says %q", run.living(), err, said)
	}
}

// followed is a Service in which another command has begun a fork of turn 2, which has had a
// turn since.
type followed struct{ missions.Service }

func (followed) Mission(context.Context, missions.MissionRequest) (missions.Mission, error) {
	return missions.Mission{Turn: 3, Head: "now", ExitCode: new(int)}, nil
}

func (followed) Show(_ context.Context, r missions.ShowRequest) (missions.ShowResult, error) {
	if r.Moment == "then" {
		return missions.ShowResult{Entry: missions.Entry{Turn: 2}}, nil
	}
	return missions.ShowResult{}, nil
}

func (followed) Diff(context.Context, missions.DiffRequest) (missions.Difference, error) {
	return missions.Difference{}, nil
}

// TestFollowedTurns: the turns of a fork that another command has begun are counted from the
// moment of the fork, whether it still works or has ended.
func TestFollowedTurns(t *testing.T) {
	t.Parallel()
	fork := missions.Mission{ID: "id", Name: "fork", Turn: 3, State: missions.StateRunning, ExitCode: new(int), Parent: &missions.Parent{Snapshot: "then"}}
	b := calltest.New(t, followed{})
	run := &run{c: &call.Call{Env: b.Env}, svc: followed{}, heard: newMailbox()}
	works := &background{mission: fork, isFollowed: true, begun: b.Env.Now(), outcome: Outcome{Mission: "fork"}}
	run.forks = []*background{works}
	err := run.c.Do(func(*call.Call) error {
		run.lines = run.c.Out
		run.take(keeperEvent{mission: "id", at: b.Env.Now().Add(time.Second), ended: true})
		return nil
	})
	if want := "fork has answered: 1 turn, 1s, 0 files changed\n"; err != nil || b.Stdout.String() != want {
		t.Errorf("%v, and it says %q, want %q", err, b.Stdout.String(), want)
	}
	fork.State = missions.StateClosed
	has := &background{mission: fork}
	err = run.c.Do(func(*call.Call) error {
		if !run.follows(has) || has.outcome.Turns != 1 || !has.outcome.isGood() {
			t.Errorf("a fork that had ended: %+v", has.outcome)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
