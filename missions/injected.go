package missions

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// Watching is what a process that watches workspaces knows of them. The daemon
// gives one; without it every capture walks. Methods are called on the
// goroutine of the operation that needs them.
type Watching interface {
	// Rules tells of the ignore rules by which a workspace is watched, if it is
	// or will be. ignored is asked for directories, by path relative to root,
	// from any goroutine. After other rules the next Take is Full.
	Rules(root string, ignored func(rel string) bool)
	// Take passes the barrier and hands over what changed since the last Take.
	// If the barrier can't be had, the answer is Full with the reason.
	Take(ctx context.Context, root string) Dirty
	// Return gives back what a failed capture took.
	Return(root string, d Dirty)
	// Follow calls changed soon after each change of a file, from any goroutine,
	// until stop is called; stop is nil where that can't be had.
	Follow(path string, changed func()) (stop func())
	// Changed tells those who wait that a mission changed.
	Changed(mission string)
}

// Dirty is what may have changed in a workspace since it was last asked.
type Dirty struct {
	Full  bool     // anything may have: walk it all
	Why   string   // the reason for Full
	Lost  bool     // Full, since events were lost
	Paths []string // relative, slash-separated
	Trees []string // directories to be walked whole
}

// IncludesPath reports whether a path is named, or below a directory that is.
func (d Dirty) IncludesPath(path string) bool {
	return slices.Contains(d.Paths, path) || slices.ContainsFunc(d.Trees, func(dir string) bool {
		return path == dir || strings.HasPrefix(path, dir+"/")
	})
}

// Observation is what a watcher saw in a workspace.
type Observation string

// The observations.
const (
	// SawChange is a change of a file in the workspace.
	SawChange Observation = "change"
	// SawQuiet is a workspace and session file without change for the settle
	// period, or a writer that never pauses for the maximum wait.
	SawQuiet Observation = "quiet"
	// SawPause is SawQuiet of an agent that is seen to be at work.
	SawPause Observation = "pause"
)

// Index is a cache of what can be read from refs and journal. A nil Index is
// no cache. Keys are ids of immutable things, so an entry is never stale; an
// error means only that the cache does not help. Safe for concurrent use.
type Index interface {
	Get(key string) (json.RawMessage, bool)
	Put(key string, value json.RawMessage)
	// Each calls fn for every entry, in key order, until it returns false.
	// An error says why the cache can't be used.
	Each(fn func(key string, value json.RawMessage) bool) error
	// Reset empties the cache.
	Reset() error
}
