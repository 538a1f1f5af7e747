//go:build !linux

package lock

import "time"

// EffortOf is told on Linux alone.
func EffortOf(int) (Effort, bool) { return Effort{}, false }

// Began is false: where there is no /proc, nothing is known.
func Began(int, time.Duration, time.Duration) bool { return false }
