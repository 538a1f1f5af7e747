package capture

import (
	"strings"

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
