package contests

import (
	"context"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/missions"
)

// TestInterruptedComparisonSaysWhatGoesOn: a comparison is asked for again.
func TestInterruptedComparisonSaysWhatGoesOn(t *testing.T) {
	t.Parallel()
	c := &call.Call{Env: calltest.New(t, nil).Env}
	_ = c.Do(func(c *call.Call) error { // the error counts that checkAll gives
		ctx, cancel := context.WithCancel(c.Context)
		cancel()
		c.Context = ctx
		_, err := checkAll(c, "true", []missions.ComparedFork{{Fork: missions.Mission{ID: "id", Workspace: t.TempDir()}}})
		if e := missions.AsError(err); e.Kind != missions.KindInterrupted || !strings.HasPrefix(e.Hint, "the same command") {
			t.Errorf("%v, %q", err, e.Hint)
		}
		return nil
	})
}
