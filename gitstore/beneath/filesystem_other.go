//go:build unix && !linux && !darwin

package beneath

import "golang.org/x/sys/unix"

// fileSystemOf supposes the worst of a system whose names are not known here.
func fileSystemOf(*unix.Statfs_t) FileSystem { return FileSystem{CoarseTimes: true} }
