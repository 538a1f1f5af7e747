//go:build !linux

package lock

// EffortOf is told on Linux alone.
func EffortOf(int) (Effort, bool) { return Effort{}, false }
