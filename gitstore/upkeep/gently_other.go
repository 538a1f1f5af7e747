//go:build !linux

package upkeep

// Gently runs fn. Where threads have no priorities of their own, it is as any other work.
func Gently(fn func() error) error { return fn() }
