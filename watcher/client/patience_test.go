package client

import (
	"errors"
	"testing"
	"time"
)

// TestPatience: a stop of this process that was longer than its patience has all of it
// begin anew; one that was shorter counts as one step.
func TestPatience(t *testing.T) {
	const d = 8 * time.Second
	for name, c := range map[string]struct {
		stops map[int]time.Duration // at which step, for how long
		steps int
	}{
		"it runs":                {nil, 8},
		"a short stop":           {map[int]time.Duration{3: d / 2}, 8},
		"a long stop":            {map[int]time.Duration{3: 2 * d}, 3 + 8},
		"a stop at the end":      {map[int]time.Duration{8: 2 * d}, 8 + 8},
		"stopped time and again": {map[int]time.Duration{1: 2 * d, 5: 3 * d}, 5 + 8},
	} {
		now, steps := time.Unix(0, 0), 0
		err := elapse(d, func() time.Time { return now }, func(step time.Duration) error {
			steps++
			now = now.Add(step + c.stops[steps])
			return nil
		})
		if err != nil || steps != c.steps {
			t.Errorf("%s: over after %d steps, want %d: %v", name, steps, c.steps, err)
		}
	}
	over := errors.New("over")
	if err := elapse(d, time.Now, func(time.Duration) error { return over }); err != over {
		t.Errorf("an end of the call ends its patience with %v", err)
	}
}
