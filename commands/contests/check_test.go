package contests

import (
	"context"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/missions"
)

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
