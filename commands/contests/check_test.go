package contests

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// TestCheckHasSessionOfItsOwn: a check that reads from the terminal fails, and is not
// stopped by the system as a background job is, which nobody would see.
func TestCheckHasSessionOfItsOwn(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the session is read from /proc")
	}
	k := checker{
		c: &call.Call{Env: calltest.New(t, nil).Env}, home: home.Home{Dir: t.TempDir()},
		command: "read pid name state parent group session rest </proc/$$/stat; echo $session is of $$; test $session = $$",
	}
	m := missions.Mission{ID: "id", Workspace: t.TempDir()}
	check, err := k.run(t.Context(), m)
	if err != nil || check.State != missions.CheckGood {
		said, _ := os.ReadFile(k.home.CheckOutputFile(m.ID)) // "" says enough
		t.Errorf("%+v, %v: %s", check, err, said)
	}
}

// TestInterruptedCheckSaysWhatGoesOn: a contest goes on by --continue, since its own command
// line would make new forks. A comparison is asked for again.
func TestInterruptedCheckSaysWhatGoesOn(t *testing.T) {
	t.Parallel()
	for reuses, want := range map[bool]string{true: "umbra contest --continue", false: "the same command"} {
		c := &call.Call{Env: calltest.New(t, nil).Env}
		_ = c.Do(func(c *call.Call) error { // the error counts that checkAll gives
			ctx, cancel := context.WithCancel(c.Context)
			cancel()
			c.Context = ctx
			_, err := checkAll(c, "true", reuses, []missions.ComparedFork{{Fork: missions.Mission{ID: "id", Workspace: t.TempDir()}}})
			if e := missions.AsError(err); e.Kind != missions.KindInterrupted || !strings.HasPrefix(e.Hint, want) {
				t.Errorf("reuses %v: %v, %q", reuses, err, e.Hint)
			}
			return nil
		})
	}
}
