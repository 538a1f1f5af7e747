//go:build !linux

package api

// Namespace is empty where the system has none.
func Namespace() string { return "" }
