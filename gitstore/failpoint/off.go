//go:build !failpoints || !unix

package failpoint

// Hit is a point at which the process may die. Any goroutine may pass it.
func Hit(string) {}
