//go:build !linux

package client

// Sandboxed is never true where there are no namespaces.
func Sandboxed() bool { return false }
