package missions

import (
	"slices"
	"strings"
	"time"
)

// WorkspaceWalks are the walks over every file of a watched workspace: what a watcher
// can't see (writes through a mapping or a hard link, lost events) is found by
// them.
type WorkspaceWalks struct {
	Workspace string    `json:"workspace"`
	Count     int       `json:"count"`
	Corrected int       `json:"corrected"` // changes found that an event should have told of, and none had
	LastAt    time.Time `json:"last_at,omitzero"`
	LastWhy   string    `json:"last_why,omitempty"`
}

// IncludesPath reports whether a path is named, or below a directory that is.
func (d Dirty) IncludesPath(path string) bool {
	return slices.Contains(d.Paths, path) || slices.ContainsFunc(d.Trees, func(dir string) bool {
		return path == dir || strings.HasPrefix(path, dir+"/")
	})
}
