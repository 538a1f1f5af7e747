package daemon

import "time"

// What no event tells of is found by walks over workspaces in which nothing
// happens: the first verifyEvery after something did, then at longer and longer
// intervals up to verifyMost, so that a machine left alone has little to do.
const (
	verifyMost = 6 * time.Hour
	// longSleep is how long the machine must have slept for what watchers know
	// to be doubted.
	longSleep = 30 * time.Second
)

// schedule is when a workspace is to be walked next.
type schedule struct {
	at    time.Time
	pause time.Duration // until the next but one
}

// verifier decides when workspaces are walked. It is the overseer's.
type verifier struct {
	every  time.Duration
	asleep func() time.Duration // how long the machine has slept since it started
	slept  time.Duration
	next   map[string]schedule // by root
}

func newVerifier(o Options) *verifier {
	return &verifier{every: o.VerifyEvery, asleep: o.Asleep, slept: o.Asleep(), next: map[string]schedule{}}
}

// woke reports whether the machine has slept for long since it was asked last.
func (v *verifier) woke() bool {
	slept := v.asleep()
	long := slept-v.slept >= longSleep
	v.slept = slept
	return long
}

// due is why a workspace is to be walked now, "" if it is not. Busy says that
// something happens there, woke that the machine has slept.
func (v *verifier) due(root string, now time.Time, busy, woke bool) string {
	next, known := v.next[root]
	switch {
	case woke:
		v.next[root] = schedule{now.Add(v.every), v.every}
		return "the machine has slept"
	case busy || !known:
		v.next[root] = schedule{now.Add(v.every), v.every}
	case !now.Before(next.at):
		pause := min(2*next.pause, max(verifyMost, v.every))
		v.next[root] = schedule{now.Add(pause), pause}
		return "nothing happened for a while"
	}
	return ""
}

func (v *verifier) forget(root string) { delete(v.next, root) }
