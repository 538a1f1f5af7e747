//go:build !linux

package client

// sandboxed is never true where there are no namespaces.
func sandboxed() bool { return false }
