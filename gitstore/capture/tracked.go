package capture

import (
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/treepath"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// repository is the user's repository that holds a directory of the workspace:
// the one around it or a nested one. Nil stands for none.
type repository struct {
	base    string // of its top level in the workspace: "" or "a/b/"
	tracked *usergit.PathSet
}

func (r *repository) has(path string) bool {
	return r != nil && r.tracked.Has(strings.TrimPrefix(path, r.base))
}

func (r *repository) hasBelow(dir string) bool {
	return r != nil && r.tracked.HasBelow(strings.TrimPrefix(dir, r.base))
}

// tracksIn tells of the names in a directory whether the repository tracks them, or files
// below them.
func (r *repository) tracksIn(dir string) func(name string) bool {
	return func(name string) bool {
		path := treepath.Join(dir, name)
		return r.has(path) || r.hasBelow(path)
	}
}
