package commands

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/payload"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// TestQuickHookGivesWay leaves to the long way what the short one can't do, with
// the event unread or to be read again.
func TestQuickHookGivesWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		home func(t *testing.T, dir string)
	}{
		"another command": {args: []string{"status"}},
		"a flag":          {args: []string{"hook", "claude", "--json"}},
		"a flag alone":    {args: []string{"hook", "--help"}},
		"no agent":        {args: []string{"hook"}},
		"no home":         {args: []string{"hook", "claude"}},
		"an open home":    {args: []string{"hook", "claude"}, home: func(t *testing.T, dir string) { mustDo(t, os.Mkdir(dir, 0o755)) }},
		"no daemon": {args: []string{"hook", "claude"}, home: func(t *testing.T, dir string) {
			_, err := home.Open(dir)
			mustDo(t, err)
		}},
		"a dead daemon": {args: []string{"hook", "claude"}, home: func(t *testing.T, dir string) {
			home, err := home.Open(dir)
			mustDo(t, err)
			mustDo(t, os.WriteFile(home.SocketFile(), []byte(filepath.Join(dir, "gone.sock")+"\n"), 0o600))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fake{})
			if c.home != nil {
				c.home(t, b.env.Getenv("UMBRA_HOME"))
			}
			b.env.Args, b.env.Stdin = c.args, strings.NewReader("the event")
			_, next, done := quickHook(b.env)
			if done {
				t.Fatal("done")
			}
			if left, err := io.ReadAll(next.Stdin); err != nil || string(left) != "the event" {
				t.Errorf("left of the event: %q, %v", left, err)
			}
		})
	}
}

// TestQuickHookFailsOpen ends well, and says nothing, whatever comes in.
func TestQuickHookFailsOpen(t *testing.T) {
	t.Parallel()
	b := newBench(t, fake{})
	home, err := home.Open(b.env.Getenv("UMBRA_HOME"))
	mustDo(t, err)
	b.env.Args = []string{"hook", "claude"}
	code, _, done := quickHook(b.env) // nothing on stdin
	if code != 0 || !done || b.stdout.Len()+b.stderr.Len() > 0 {
		t.Errorf("code %d, done %v, %s%s", code, done, b.stdout.String(), b.stderr.String())
	}
	if log, err := os.ReadFile(home.LogFile()); err != nil || !strings.Contains(string(log), "the event is empty") {
		t.Errorf("log: %s %v", log, err)
	}
}

// TestQuickHookTellsWhenStrict is the same way, for trying out: what is measured
// and tested with --strict is what an agent waits for.
func TestQuickHookTellsWhenStrict(t *testing.T) {
	t.Parallel()
	b := newBench(t, fake{})
	_, err := home.Open(b.env.Getenv("UMBRA_HOME"))
	mustDo(t, err)
	b.env.Args = []string{"hook", "claude", "--strict"}
	code, _, done := quickHook(b.env) // nothing on stdin
	if code != 2 || !done || !strings.Contains(b.stderr.String(), "the event is empty") {
		t.Errorf("code %d, done %v, %q", code, done, b.stderr.String())
	}
	if err := problemOf(missions.HookResult{Problem: "no room"}); missions.AsError(err).Message != "no room" {
		t.Errorf("%v", err)
	}
}

// TestQuickHookSurvivesAFault: a process that dies of a fault ends with 2, which
// tells Claude Code to block what it was about to do.
func TestQuickHookSurvivesAFault(t *testing.T) {
	t.Parallel()
	b := newBench(t, fake{})
	_, err := home.Open(b.env.Getenv("UMBRA_HOME"))
	mustDo(t, err)
	b.env.Args, b.env.Stdin = []string{"hook", "claude"}, strings.NewReader("{}")
	b.env.Getwd = func() (string, error) { panic("a fault") }
	code, _, done := quickHook(b.env)
	if code != 0 || !done || b.stdout.Len()+b.stderr.Len() > 0 {
		t.Errorf("code %d, done %v, %s%s", code, done, b.stdout.String(), b.stderr.String())
	}
}

// TestHookEndsWhereSomethingHangs comes to its end with its time, though a call of the
// Service does not, as where the kernel waits for a network's disk.
func TestHookEndsWhereSomethingHangs(t *testing.T) {
	t.Parallel()
	hangs := make(chan struct{})
	t.Cleanup(func() { close(hangs) })
	b := newBench(t, fake{hook: func(context.Context, missions.HookRequest) (missions.HookResult, error) {
		<-hangs
		return missions.HookResult{}, nil
	}})
	began := time.Now().Add(-payload.Budget)
	b.env.Now = func() time.Time { return began }
	b.env.Began = began.Add(-payload.Budget) // its time is over
	b.env.Stdin = strings.NewReader(`{"x":1}`)
	if code := b.run("hook", "claude", "--event", "Stop", "--strict"); code == 0 || !strings.Contains(b.stderr.String(), "the time for this hook is over") {
		t.Errorf("exit code %d, stderr %q", code, b.stderr.String())
	}
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestHeld: whom a hook without a daemon may wait for is there only while a process
// has the home.
func TestHeld(t *testing.T) {
	t.Parallel()
	home, err := home.Open(filepath.Join(t.TempDir(), "home"))
	mustDo(t, err)
	if held(home) {
		t.Error("nobody has the home")
	}
	lock, err := home.Hold("a keeper")
	mustDo(t, err)
	if !held(home) {
		t.Error("a keeper has the home")
	}
	mustDo(t, lock.Release())
	if held(home) {
		t.Error("the keeper has let go of it")
	}
}

// TestHintTime: Git waits for a hint as for any event, never as for a prompt's.
func TestHintTime(t *testing.T) {
	t.Parallel()
	if hintTime("git") != payload.Budget || hintTime("vim") != payload.PromptBudget {
		t.Errorf("git %s, vim %s", hintTime("git"), hintTime("vim"))
	}
}
