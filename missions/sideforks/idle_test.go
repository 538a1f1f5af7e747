package sideforks

import (
	"testing"
	"time"
)

// TestIdleness: first the user of a side fork is asked, and only what the user does answers
// that; then, as long after anybody did anything, the fork ends.
func TestIdleness(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ago := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	for name, c := range map[string]struct {
		user, agent, asked time.Time
		working            bool
		want               step
		in                 time.Duration
	}{
		"typed just now":               {user: ago(4), agent: ago(30), want: stepNone, in: 6 * time.Minute},
		"answered just now":            {user: ago(30), agent: ago(4), want: stepNone, in: 6 * time.Minute},
		"works for an hour":            {user: ago(60), agent: ago(60), working: true, want: stepNone, in: 10 * time.Minute},
		"idle":                         {user: ago(11), agent: ago(10), want: stepAsk, in: 10 * time.Minute},
		"idle and never prompted":      {agent: ago(10), want: stepAsk, in: 10 * time.Minute},
		"asked, there is time":         {user: ago(30), agent: ago(19), asked: ago(9), want: stepNone, in: time.Minute},
		"asked in vain":                {user: ago(30), agent: ago(20), asked: ago(10), want: stepEnd},
		"asked, the agent went on":     {user: ago(30), agent: ago(3), asked: ago(12), want: stepNone, in: 7 * time.Minute},
		"asked, the agent had gone on": {user: ago(30), agent: ago(10), asked: ago(20), want: stepEnd},
		"asked, the agent works":       {user: ago(30), agent: ago(20), asked: ago(12), working: true, want: stepNone, in: 10 * time.Minute},
		"answered, idle once more":     {user: ago(10), agent: ago(15), asked: ago(20), want: stepAsk, in: 10 * time.Minute},
		"the clock was set back":       {user: ago(-600), agent: ago(30), want: stepNone, in: 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := idleness{timeout: 10 * time.Minute, user: c.user, agent: c.agent, asked: c.asked, working: c.working}
			if got, in := i.next(now); got != c.want || in != c.in {
				t.Errorf("step %d in %s, not %d in %s", got, in, c.want, c.in)
			}
		})
	}
}
