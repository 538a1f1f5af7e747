package lock

import "golang.org/x/sys/unix"

// sinceBoot is the clock that is never set, and goes on while the system sleeps.
const sinceBoot = unix.CLOCK_MONOTONIC
