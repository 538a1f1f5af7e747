package hook

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/calltest"
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
		"an open home":    {args: []string{"hook", "claude"}, home: func(t *testing.T, dir string) { calltest.Must(t, os.Mkdir(dir, 0o755)) }},
		"no daemon": {args: []string{"hook", "claude"}, home: func(t *testing.T, dir string) {
			_, err := home.Open(dir)
			calltest.Must(t, err)
		}},
		"a dead daemon": {args: []string{"hook", "claude"}, home: func(t *testing.T, dir string) {
			home, err := home.Open(dir)
			calltest.Must(t, err)
			calltest.Must(t, os.WriteFile(home.SocketFile(), []byte(filepath.Join(dir, "gone.sock")+"\n"), 0o600))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := calltest.New(t, nil)
			if c.home != nil {
				c.home(t, b.Env.Getenv("UMBRA_HOME"))
			}
			b.Env.Args, b.Env.Stdin = c.args, strings.NewReader("the event")
			_, next, done := Quick(b.Env)
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
	b := calltest.New(t, nil)
	home, err := home.Open(b.Env.Getenv("UMBRA_HOME"))
	calltest.Must(t, err)
	b.Env.Args = []string{"hook", "claude"}
	code, _, done := Quick(b.Env) // nothing on stdin
	if code != 0 || !done || b.Stdout.Len()+b.Stderr.Len() > 0 {
		t.Errorf("code %d, done %v, %s%s", code, done, b.Stdout.String(), b.Stderr.String())
	}
	if log, err := os.ReadFile(home.LogFile()); err != nil || !strings.Contains(string(log), "the event is empty") {
		t.Errorf("log: %s %v", log, err)
	}
}

// TestQuickHookTellsWhenStrict is the same way, for trying out: what is measured
// and tested with --strict is what an agent waits for.
func TestQuickHookTellsWhenStrict(t *testing.T) {
	t.Parallel()
	b := calltest.New(t, nil)
	_, err := home.Open(b.Env.Getenv("UMBRA_HOME"))
	calltest.Must(t, err)
	b.Env.Args = []string{"hook", "claude", "--strict"}
	code, _, done := Quick(b.Env) // nothing on stdin
	if code != 2 || !done || !strings.Contains(b.Stderr.String(), "the event is empty") {
		t.Errorf("code %d, done %v, %q", code, done, b.Stderr.String())
	}
	if err := problemOf(missions.HookResult{Problem: "no room"}); missions.AsError(err).Message != "no room" {
		t.Errorf("%v", err)
	}
}

// TestQuickHookSurvivesAFault: a process that dies of a fault ends with 2, which
// tells Claude Code to block what it was about to do.
func TestQuickHookSurvivesAFault(t *testing.T) {
	t.Parallel()
	b := calltest.New(t, nil)
	_, err := home.Open(b.Env.Getenv("UMBRA_HOME"))
	calltest.Must(t, err)
	b.Env.Args, b.Env.Stdin = []string{"hook", "claude"}, strings.NewReader("{}")
	b.Env.Getwd = func() (string, error) { panic("a fault") }
	code, _, done := Quick(b.Env)
	if code != 0 || !done || b.Stdout.Len()+b.Stderr.Len() > 0 {
		t.Errorf("code %d, done %v, %s%s", code, done, b.Stdout.String(), b.Stderr.String())
	}
}

// TestHintTime: Git waits for a hint as for any event, never as for a prompt's.
func TestHintTime(t *testing.T) {
	t.Parallel()
	if hintTime("git") != payload.Budget || hintTime("vim") != payload.PromptBudget {
		t.Errorf("git %s, vim %s", hintTime("git"), hintTime("vim"))
	}
}
