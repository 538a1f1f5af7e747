// Package patience is how long tests wait for what must come. scripts/check measures
// once, at its start, how much slower than an idle machine of today this one is; every
// wait that decides whether a test passes is longer by that. It must not be used for
// what is to take little time: that is measured, and not tested.
package patience

import (
	"os"
	"strconv"
	"time"
)

// slowVar is the factor that scripts/check has measured, at least 1.
const slowVar = "UMBRA_CHECK_SLOW"

// Of is how long to wait on this machine for what takes less than d on an idle one. d is
// a minute or more, unless a test has to wait for it to its end.
func Of(d time.Duration) time.Duration { return times(os.Getenv(slowVar), d) }

// Until asks again and again until what must come is there, and reports whether it came
// within Of(d). The longer it waits, the less often it asks: asking takes from what is
// waited for.
func Until(d time.Duration, there func() bool) bool {
	for began := time.Now(); !there(); {
		waited := time.Since(began)
		if waited > Of(d) {
			return false
		}
		time.Sleep(min(max(5*time.Millisecond, waited/5), 2*time.Second))
	}
	return true
}

func times(factor string, d time.Duration) time.Duration {
	f, err := strconv.Atoi(factor)
	if err != nil || f < 1 {
		return d
	}
	return time.Duration(f) * d
}
