//go:build !linux

package disk

import "time"

// Now is the clock that the kernel stamps files with, in nanoseconds since 1970.
func Now() int64 { return time.Now().UnixNano() }
