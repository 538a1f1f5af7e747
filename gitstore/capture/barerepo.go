package capture

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// gitPlace is a git directory that is the workspace, or has work trees in it, or a
// directory of Git's in there that leads to one of the work trees.
type gitPlace struct {
	top   bool     // the git directory itself: others may have files in it
	trees []string // the work trees in here
}

// leavesOut tells whether a name in there is Git's, and no way to a work tree.
func (g *gitPlace) leavesOut(name string) bool {
	return g != nil && (!g.top || isGits(name)) &&
		!slices.ContainsFunc(g.trees, func(tree string) bool { return treepath.Covers(name, tree) })
}

// child is a directory in there, nil if Git does not own it.
func (g *gitPlace) child(name string) *gitPlace {
	if g == nil || g.top && !isGits(name) || slices.Contains(g.trees, name) {
		return nil
	}
	c := &gitPlace{}
	for _, tree := range g.trees {
		if rest, ok := strings.CutPrefix(tree, name+"/"); ok {
			c.trees = append(c.trees, rest)
		}
	}
	return c
}

// gitNames are what Git, and tools for it, call what they keep in a git directory:
// gitrepository-layout(5).
var gitNames = []string{
	"HEAD", "annex", "branches", "branchless", "cloneurl", "commondir", "config", "config.worktree", "description", "fsmonitor--daemon",
	"fsmonitor--daemon.ipc", "gc.log", "gc.pid", "git-daemon-export-ok", "gitbutler", "gitdir", "hooks", "index", "info", "lfs", "logs", "modules",
	"objects", "packed-refs", "rebase-apply", "rebase-merge", "refs", "reftable", "rr-cache", "sequencer", "shallow", "sl", "subtree-cache",
	"svn", "worktrees",
}

// isGits tells whether an entry of a git directory is Git's by its name. So is what Git is
// about to put in its place (config.lock), and FETCH_HEAD, COMMIT_EDITMSG and their like.
func isGits(name string) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".lock"), ".new")
	capitals := strings.Contains(name, "_") && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
	return capitals || slices.Contains(gitNames, name) || strings.HasPrefix(name, "sharedindex.") || strings.HasPrefix(name, "shallow_")
}

// gitPlace is what a git directory in the workspace is to a walk, nil if all in it is to be
// left out.
func (w *walker) gitPlace(at *place, is beneath.Identity) *gitPlace {
	trees := workTrees(filepath.Join(w.root.Path(), filepath.FromSlash(at.path)))
	if len(trees) == 0 && !w.hadWorkTrees(at.path, is) {
		return nil
	}
	return &gitPlace{top: true, trees: trees}
}

// bareRoot is what a workspace with a git directory's names is to a walk, nil if these are
// files: it has a .git of its own, or they are a fixture that its repository tracks, or the
// one around it. If what is Git's was left out before, or there are work trees, it is no
// question of a .git that was made there since.
func (w *walker) bareRoot(repo *repository) *gitPlace {
	root := w.root.Path()
	own, around := repo.tracksIn(""), trackedAround(root).tracksIn("")
	tracks := func(name string) bool { return own(name) || around(name) }
	if isFixture(tracks) {
		return nil
	}
	before := w.base != nil && w.base.leavesOutGit() || w.base == nil && w.held != nil && w.held.leavesOutGit("")
	g := &gitPlace{top: true, trees: workTrees(root)}
	if !before && len(g.trees) == 0 && !isBare(root) {
		return nil
	}
	for _, name := range settingNames {
		if tracks(name) {
			g.trees = append(g.trees, name)
		}
	}
	return g
}

// settingNames are what a repository may track in a bare one that is no fixture. With these
// no branch moves.
var settingNames = []string{"branches", "cloneurl", "config", "description", "git-daemon-export-ok", "hooks", "info"}

// isFixture tells whether of a git directory that is tracked which makes it one.
func isFixture(tracks func(string) bool) bool {
	return slices.ContainsFunc([]string{"HEAD", "objects", "refs"}, tracks)
}

// isBare tells whether a directory is what Git takes for its git directory, if run there.
func isBare(dir string) bool {
	repo, err := usergit.At(dir)
	return err == nil && disk.IsSameFile(repo.GitDir, dir)
}

// trackedAround is what the repository around a directory tracks in it.
func trackedAround(dir string) *repository {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil
	}
	repo, err := usergit.Discover(filepath.Dir(dir))
	if err != nil || repo.TopLevel == "" {
		return nil
	}
	inside, ok := pathInside(repo.TopLevel, dir)
	index, err := repo.Index()
	if !ok || err != nil {
		return nil
	}
	return &repository{tracked: index.PathsBelow(inside + "/")}
}

// hadWorkTrees tells whether a directory was a git directory with work trees in it when it
// was captured last, by whatever path. Git forgets that with the last of them.
func (w *walker) hadWorkTrees(path string, is beneath.Identity) bool {
	return slices.Contains(w.reserved.gits(), is) || w.base == nil && w.held != nil && w.held.leavesOutGit(path)
}

// gitPlaces are the directories below one of which only what is Git's was left out.
func (n *node) gitPlaces() (list []beneath.Identity) {
	visit(n, "", func(n *node) bool { return n != nil && n.sum.skipped > 0 }, func(_ string, _ *node, e *entry) {
		if e.kind == kindDirectory && e.dir.leavesOutGit() {
			list = append(list, beneath.Identity{Device: e.dir.device, Inode: e.stat.inode})
		}
	})
	return list
}

func (n *node) leavesOutGit() bool {
	e := n.lookup("HEAD")
	return e != nil && e.kind == kindSkipped && e.skipReason() == documents.ReasonReserved
}

// workTrees are the linked work trees of a git directory that lie in it, as those of a bare
// clone do that somebody works in. Of one that was moved by hand Git has the old place: if
// there is such a place, what leads to the git directory is looked for.
func workTrees(gitDir string) (list []string) {
	gitDir, err := filepath.EvalSymlinks(gitDir)
	if err != nil {
		return nil
	}
	moved := false
	entries, _ := os.ReadDir(filepath.Join(gitDir, "worktrees")) // there need be none
	for _, e := range entries {
		admin := filepath.Join(gitDir, "worktrees", e.Name())
		data, err := usergit.ReadFile(filepath.Join(admin, "gitdir"), unix.PathMax)
		if err != nil {
			continue
		}
		at := strings.TrimRight(string(data), "\r\n")
		if !filepath.IsAbs(at) {
			at = filepath.Join(admin, at)
		}
		if _, err = os.Lstat(at); err == nil {
			at, err = filepath.EvalSymlinks(filepath.Dir(at))
		}
		if err != nil {
			moved = true
			continue
		}
		if inside, ok := pathInside(gitDir, at); ok {
			list = append(list, inside)
		}
	}
	if moved {
		list = append(list, findWorkTrees(gitDir, len(list) > 0)...)
	}
	return list
}

// pathInside is the way from a directory to another one below it, by identity: some file
// systems have many spellings of a name.
func pathInside(dir, path string) (string, bool) {
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		if disk.IsSameFile(at, dir) {
			inside, err := filepath.Rel(at, path)
			return filepath.ToSlash(inside), err == nil
		}
		if at == filepath.Dir(at) {
			return "", false
		}
	}
}

// deepestMoved is how deep below a git directory a work tree is looked for of which Git has
// the old place.
const deepestMoved = 8

// findWorkTrees looks for directories with a .git file that leads to a git directory which
// they are in. Where that may have any number of files of its own, nobody has work trees.
// What is not Git's are files anyway, and only looked through if no work tree is known.
func findWorkTrees(gitDir string, known bool) (list []string) {
	_ = filepath.WalkDir(gitDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || path == gitDir {
			return nil // what can't be read has none that could be captured
		}
		inside, _ := filepath.Rel(gitDir, path)
		depth := strings.Count(inside, string(filepath.Separator)) + 1
		if depth > deepestMoved || slices.Contains(crowded, inside) || depth == 1 && known && !isGits(inside) {
			return fs.SkipDir
		}
		if _, err := os.Lstat(filepath.Join(path, gitName)); err != nil {
			return nil
		}
		if repo, err := usergit.At(path); err == nil && repo.Linked && disk.IsSameFile(repo.CommonDir, gitDir) {
			list = append(list, filepath.ToSlash(inside))
		}
		return fs.SkipDir
	})
	return list
}

// crowded are directories of a git directory with any number of files.
var crowded = []string{"annex", "lfs", "logs", "modules", "objects", "refs", "rr-cache", "subtree-cache", "svn", "worktrees"}
