// Package histories knows the directories in which version systems keep commits.
package histories

import "slices"

// named are such directories by name, with what tells each from files that only have its
// name.
var named = map[string][]string{
	".hg":    {"requires", "store", "00changelog.i"},
	".sl":    {"requires", "store"},
	".jj":    {"repo"},
	".svn":   {"wc.db", "entries"},
	".bzr":   {"branch-format", "branch", "repository"},
	"_darcs": {"format", "inventory", "hashed_inventory"},
	".pijul": {"pristine", "config"},
}

// Keeps tells whether the directory of that name, which has those entries, keeps commits
// of a work tree. A Git directory by any other name than .git does if it has an index,
// worktrees, or settings that name its work tree: its user leads Git to it by --git-dir
// or GIT_DIR. A bare repository has none of these.
func Keeps(name string, has func(string) bool, namesWorkTree func() bool) bool {
	if marks := named[name]; marks != nil {
		return slices.ContainsFunc(marks, has)
	}
	return has("HEAD") && has("objects") && has("refs") && (has("index") || has("worktrees") || namesWorkTree())
}
