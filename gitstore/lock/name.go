package lock

import (
	"path/filepath"
	"strconv"
)

// HomeFile is the home lock, which guards the index and the live watchers. On
// a home that several machines mount, machine is this one's id; else "".
func HomeFile(home, machine string) string {
	if machine == "" {
		return filepath.Join(home, "lock")
	}
	return filepath.Join(home, "lock-"+machine)
}

// ProjectFile is a project's lock: shared to capture, exclusive to prune. The
// project is its UUID.
func ProjectFile(home, project string) string {
	return filepath.Join(home, "locks", "project-"+project)
}

// WorkspaceFile is the lock of a directory, by device and inode, so that all
// its paths meet in one file.
func WorkspaceFile(home string, device, inode uint64) string {
	return filepath.Join(home, "locks", strconv.FormatUint(device, 10)+"-"+strconv.FormatUint(inode, 10))
}
