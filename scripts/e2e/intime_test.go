package e2e

import (
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// slowest is what a test needs to end in time on a slow machine, others beside it.
const slowest = 3 * time.Minute

// inTime leaves a test out, and says so, if there is no time for it any more: these are
// the last to run and take longest, most of it in the agents themselves.
func inTime(t *testing.T) {
	t.Helper()
	left, err := lab.GateTime()
	if err != nil {
		t.Fatal(err)
	}
	if left < slowest {
		t.Skipf("left out: %s of the gate's time are left; without --within it runs", left.Round(time.Second))
	}
}
