package capture

import (
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/histories"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// keepsHistory tells of a directory with commits to which no .git leads. A restore of its
// files would take commits back. What the user's repository tracks is a fixture, and files.
func (w *walker) keepsHistory(s *scene, names *beneath.Listing) bool {
	if s.at.depth == 0 || s.at.repo.hasBelow(s.at.path) {
		return false
	}
	keeps := histories.Keeps(s.at.name, names.Has, func() bool {
		return usergit.NamesWorkTree(filepath.Join(w.root.Path(), filepath.FromSlash(s.at.path)))
	}) || isGitDirectory(names.Has) && w.hadWorkTrees(s.at.path, s.is)
	return keeps && !isFixture(s.repo.tracksIn(s.at.path))
}

// mayHaveBegunHistory tells whether changes to files may have made keepsHistory true, or
// the workspace a bare repository.
func (w *walker) mayHaveBegunHistory(at *place, old *node, dirty *dirtyTree) bool {
	has := func(name string) bool { return old.lookup(name) != nil || dirty.at(name) != nil }
	if at.depth == 0 {
		return isGitDirectory(has) && w.bareRoot(at.repo) != nil
	}
	return histories.Keeps(at.name, has, func() bool {
		return dirty.at("config") != nil || dirty.at("config.worktree") != nil
	})
}

func isGitDirectory(has func(string) bool) bool { return has("HEAD") && has("objects") && has("refs") }
