package daemon

import (
	"time"

	"golang.org/x/sys/unix"
)

// asleep is how long the machine has slept since it started: the clock that
// counts sleep, less the one that does not. 0 if that can't be had.
func asleep() time.Duration {
	var boot, awake unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
		return 0
	}
	return time.Duration(boot.Nano() - awake.Nano())
}
