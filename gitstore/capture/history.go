package capture

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/histories"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// keepsHistory tells of a directory with commits to which no .git leads. A restore of its
// files would take commits back. What the user's repository tracks is a fixture, and files.
func (w *walker) keepsHistory(s *scene, names *beneath.Listing) bool {
	return s.at.depth > 0 && !s.at.repo.hasBelow(s.at.path) && histories.Keeps(s.at.name, names.Has, func() bool {
		return usergit.NamesWorkTree(filepath.Join(w.root.Path(), filepath.FromSlash(s.at.path)))
	})
}

// mayHaveBegunHistory tells whether changes to files may have made keepsHistory true.
func mayHaveBegunHistory(at *place, old *node, dirty *dirtyTree) bool {
	has := func(name string) bool { return old.lookup(name) != nil || dirty.at(name) != nil }
	return histories.Keeps(at.name, has, func() bool {
		return dirty.at("config") != nil || dirty.at("config.worktree") != nil
	})
}

// gitsOwn are directories of a git directory in which no work tree is looked for.
var gitsOwn = []string{"annex", "branches", "hooks", "info", "lfs", "logs", "modules", "objects", "refs", "reftable", "worktrees"}

// workTrees are those of the git directory at a path of the workspace.
func (w *walker) workTrees(path string) []string {
	return workTrees(filepath.Join(w.root.Path(), filepath.FromSlash(path)))
}

// workTrees are the linked work trees of a git directory that lie in it, as those of a bare
// clone do that somebody works in. They are the only files there.
func workTrees(gitDir string) (list []string) {
	gitDir, err := filepath.EvalSymlinks(gitDir)
	if err != nil {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Join(gitDir, "worktrees")) // there need be none
	for _, e := range entries {
		admin := filepath.Join(gitDir, "worktrees", e.Name())
		data, err := usergit.ReadFile(filepath.Join(admin, "gitdir"), unix.PathMax)
		if err != nil {
			continue
		}
		at := filepath.Dir(strings.TrimRight(string(data), "\r\n"))
		if !filepath.IsAbs(at) {
			at = filepath.Join(admin, at)
		}
		if at, err = filepath.EvalSymlinks(at); err != nil {
			continue
		}
		inside, ok := strings.CutPrefix(at, strings.TrimSuffix(gitDir, "/")+"/")
		first, _, _ := strings.Cut(inside, "/")
		if ok && !slices.Contains(gitsOwn, first) {
			list = append(list, inside)
		}
	}
	return list
}

// leads tells whether a name is on the way to one of the work trees, or is it.
func leads(trees []string, name string) bool {
	return slices.ContainsFunc(trees, func(tree string) bool { return tree == name || strings.HasPrefix(tree, name+"/") })
}

// below are the work trees seen from a directory on the way to them, nil if it is one.
func below(trees []string, name string) (list []string) {
	for _, tree := range trees {
		if tree == name {
			return nil
		}
		if rest, ok := strings.CutPrefix(tree, name+"/"); ok {
			list = append(list, rest)
		}
	}
	return list
}
