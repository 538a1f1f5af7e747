package main

import (
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// A tally counts what was done, by one run after the other if they are told to
// go on with it.
type tally struct {
	Lasted time.Duration // without the run that is under way

	At       map[string]int // kills by failpoint
	Timed    int            // kills by the clock
	Second   int            // of those, of a process that recovers
	Survived int            // that were to die, and ended before
	Full     int            // looks at everything
	Acked    int            // snapshots

	Failed  map[string]map[string]int // file-system calls that were made to fail, by way and kind
	Classes classes
	Spared  int // that were to fail, and did not come
	Errors  int // commands that ended with an error for it

	Wrong int // worlds in which something was wrong, in earlier runs

	Cramped, Refused int // commands without room, and those that ended with an error
}

func newTally() tally {
	t := tally{At: map[string]int{}, Failed: map[string]map[string]int{}}
	for i := range t.Classes {
		t.Classes[i] = map[string]int{}
	}
	return t
}

// goOn goes on with the tally of an earlier run, if there is one.
func (h *harness) goOn() error { return lab.ReadTally(h.keep, &h.tally) }

// keepTally keeps the tally for the next run.
func (h *harness) keepTally(now time.Time) error {
	all := h.tally
	all.Lasted = h.lasted(now)
	all.Wrong += len(h.failures)
	return lab.KeepTally(h.keep, all)
}

// mended says of what was wrong in earlier runs: the run that says so found nothing.
func (h *harness) mended() string {
	if h.Wrong == 0 {
		return ""
	}
	times := "times"
	if h.Wrong == 1 {
		times = "time"
	}
	return fmt.Sprintf(" %d %s something was wrong, in the runs before the last: the section above says what, and which test holds it now.", h.Wrong, times)
}

// lasted is how long the runs were together.
func (h *harness) lasted(now time.Time) time.Duration {
	return (h.Lasted + now.Sub(h.began)).Round(time.Minute)
}
