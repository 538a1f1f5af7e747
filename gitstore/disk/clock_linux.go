package disk

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is the clock that the kernel stamps files with, in nanoseconds since 1970: up to a
// tick behind time.Now, which therefore must not be compared with a file's times.
func Now() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &ts) != nil {
		return time.Now().UnixNano()
	}
	return ts.Nano()
}
