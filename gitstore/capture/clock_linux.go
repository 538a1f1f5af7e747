package capture

import (
	"time"

	"golang.org/x/sys/unix"
)

// coarseNow is the clock that the kernel stamps files with: up to a tick behind
// time.Now, which therefore must not be compared with a file's times.
func coarseNow() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &ts) != nil {
		return time.Now().UnixNano()
	}
	return ts.Nano()
}
