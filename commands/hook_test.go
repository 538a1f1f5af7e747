package commands

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/payload"
	"github.com/umbra-vcs/umbra/missions"
)

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
	b.Env.Now = func() time.Time { return began }
	b.Env.Began = began.Add(-payload.Budget) // its time is over
	b.Env.Stdin = strings.NewReader(`{"x":1}`)
	if code := b.run("hook", "claude", "--event", "Stop", "--strict"); code == 0 || !strings.Contains(b.Stderr.String(), "the time for this hook is over") {
		t.Errorf("exit code %d, stderr %q", code, b.Stderr.String())
	}
}
