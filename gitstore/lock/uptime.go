package lock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Uptime is how long ago the system was started, the time that it slept included; 0 if
// it does not tell. Unlike the clock it is never set.
func Uptime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(sinceBoot, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
