package patience

import (
	"testing"
	"time"
)

func TestTimes(t *testing.T) {
	for factor, want := range map[string]time.Duration{"": time.Minute, "1": time.Minute, "7": 7 * time.Minute, "0": time.Minute, "slow": time.Minute} {
		if got := times(factor, time.Minute); got != want {
			t.Errorf("by %q: %s, want %s", factor, got, want)
		}
	}
}
