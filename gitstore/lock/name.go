package lock

import (
	"path/filepath"
	"strconv"
)

// ProjectFile is a project's lock: shared to capture, exclusive to prune. The
// project is its UUID.
func ProjectFile(home, project string) string {
	return filepath.Join(home, "locks", "project-"+project)
}

// PruningFile is held, exclusive, by the one process that prunes a project: housekeeping of the
// project gives way to it.
func PruningFile(home, project string) string {
	return filepath.Join(home, "locks", "pruning-"+project)
}

// WorkspaceFile is the lock of a directory, by device and inode, so that all
// its paths meet in one file.
func WorkspaceFile(home string, device, inode uint64) string {
	return filepath.Join(home, "locks", strconv.FormatUint(device, 10)+"-"+strconv.FormatUint(inode, 10))
}
