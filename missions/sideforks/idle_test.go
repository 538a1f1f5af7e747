package sideforks

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
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

// TestUntakenPrompt: an agent that was sent a prompt is at work until it has had time to
// start. One that shows a question instead and never takes the prompt up is idle. What an
// agent that calls hooks writes as it starts says nothing.
func TestUntakenPrompt(t *testing.T) {
	t.Parallel()
	launched := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		prompt  string
		heard   bool
		hooked  bool // it has called a hook, and none of a turn
		written bool
		timeout time.Duration
		after   time.Duration
		want    step
	}{
		"starts":                  {prompt: "try a map", timeout: time.Second, after: time.Minute, want: stepNone},
		"was sent nothing":        {timeout: time.Second, after: time.Minute, want: stepAsk},
		"was heard":               {prompt: "try a map", heard: true, timeout: time.Second, after: time.Minute, want: stepAsk},
		"writes as it starts":     {prompt: "try a map", hooked: true, written: true, timeout: time.Second, after: time.Minute, want: stepNone},
		"writes without hooks":    {prompt: "try a map", written: true, timeout: time.Second, after: time.Minute, want: stepAsk},
		"has not taken it up":     {prompt: "try a map", timeout: time.Second, after: 5 * time.Minute, want: stepAsk},
		"there is time":           {prompt: "try a map", timeout: 10 * time.Minute, after: 9 * time.Minute, want: stepNone},
		"there is no time either": {prompt: "try a map", timeout: 10 * time.Minute, after: 10 * time.Minute, want: stepAsk},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &projects.Mission{Lifecycle: missions.Idle{}}
			m.Live.SentPrompt, m.Live.HeardSinceLaunch, m.Live.LaunchedAt.At = c.prompt, c.heard, launched
			if c.hooked {
				m.Live.LastHookAt = launched.Add(time.Second)
			}
			if c.written {
				m.Binding.SessionPath = filepath.Join(t.TempDir(), "session")
				if err := os.WriteFile(m.Binding.SessionPath, []byte("{}\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			now := launched.Add(c.after)
			i := idlenessOf(m, projects.SideFork{IdleTimeout: c.timeout}, time.Time{}, now)
			if got, _ := i.next(now); got != c.want {
				t.Errorf("step %d, not %d", got, c.want)
			}
		})
	}
}
