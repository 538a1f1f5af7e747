//go:build unix && !linux

package journal

import "os"

// replaceUnsynced replaces what is at to.
func replaceUnsynced(from, to string) error { return os.Rename(from, to) }
