package patience

import (
	"testing"
	"time"
)

// TestUntil asks until what must come is there, and no longer than it was told.
func TestUntil(t *testing.T) {
	asked := 0
	if !Until(time.Minute, func() bool { asked++; return asked == 3 }) || asked != 3 {
		t.Errorf("what came at the third question was asked for %d times", asked)
	}
	asked = 0
	if Until(0, func() bool { asked++; return false }) || asked == 0 {
		t.Errorf("what never comes was asked for %d times, and came", asked)
	}
}

func TestTimes(t *testing.T) {
	for factor, want := range map[string]time.Duration{"": time.Minute, "1": time.Minute, "7": 7 * time.Minute, "0": time.Minute, "slow": time.Minute} {
		if got := times(factor, time.Minute); got != want {
			t.Errorf("by %q: %s, want %s", factor, got, want)
		}
	}
}
