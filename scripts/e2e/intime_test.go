package e2e

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// untilVar is when the gate has to be over, in seconds since 1970, where its time is
// limited (scripts/check --within).
const untilVar = "UMBRA_CHECK_UNTIL"

// slowest is what a test needs to end in time on a slow machine, others beside it.
const slowest = 3 * time.Minute

// inTime leaves a test out, and says so, if there is no time for it any more: these are
// the last to run and take longest, most of it in the agents themselves.
func inTime(t *testing.T) {
	t.Helper()
	text := os.Getenv(untilVar)
	if text == "" {
		return
	}
	until, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", untilVar, err)
	}
	if left := time.Until(time.Unix(until, 0)); left < slowest {
		t.Skipf("left out: %s of the gate's time are left; without --within it runs", left.Round(time.Second))
	}
}
