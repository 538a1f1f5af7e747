// Package beneath owns file-system operations confined below one root
// directory: every path is resolved from a handle on the root, never through
// a symbolic link and never out of the root (H11). It must not know Git,
// snapshots or plans, and it must never follow a path it was not given.
//
// Paths are slash-separated byte strings relative to the root, as long as
// they like (they are walked in pieces shorter than PATH_MAX); every
// operation that changes something also refuses the names that Git refuses in
// a tree (CheckPath). Failures are *fs.PathError or *os.LinkError, so
// errors.Is with fs.ErrNotExist, fs.ErrExist and this package's errors works.
package beneath
