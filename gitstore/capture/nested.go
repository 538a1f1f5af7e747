package capture

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

const gitName = ".git"

// nested is a directory's ".git", whether or not it makes a repository of it.
type nested struct {
	isRepository bool
	worktree     bool // of the repository that holds the workspace
	exclude      string
	tracked      *usergit.PathSet
	inputs       []input
	dirs         []usergit.Identity // see gitDirs
	unread       bool               // it could not be told, and is looked at again each time
}

func (n *nested) repository(path string) *repository {
	return &repository{base: path + "/", tracked: n.tracked}
}

// nestedAt finds what the .git of a directory makes of it; old is what it was.
func nestedAt(root, path string, rules *Rules, old *nested) (*nested, error) {
	if old != nil && !old.changed() {
		return old, nil
	}
	n := &nested{}
	dir := filepath.Join(root, filepath.FromSlash(path))
	for _, part := range []string{"", "HEAD", "objects", "refs"} {
		if err := n.note(filepath.Join(dir, gitName, part)); err != nil {
			return nil, err
		}
	}
	// That it became a link to what it was says nothing else.
	if state, err := stateOf(filepath.Join(dir, gitName), os.Lstat); err == nil {
		n.inputs = append(n.inputs, input{filepath.Join(dir, gitName), os.Lstat, state})
	}
	repo, err := usergit.At(dir)
	if err == nil && repo.GitDir == "" {
		err = repo.Unread
	}
	damaged := (*usergit.DamagedError)(nil)
	switch {
	case err == nil:
		n.isRepository, n.dirs = true, gitDirs(repo)
		for _, file := range alternates(repo) {
			if err := n.note(file); err != nil {
				return nil, err
			}
		}
		return n, n.read(repo, rules, path, old)
	case errors.Is(err, usergit.ErrNoRepository), errors.As(err, &damaged), vanished(err), errors.Is(err, unix.ENAMETOOLONG), errors.Is(err, unix.ELOOP):
		// A .git that leads nowhere makes no repository, for Git neither.
		return n, nil
	}
	// The parent's rules do not reach into one that can't be read: rather too much
	// is captured than too little.
	n.isRepository = true
	return n, errors.Join(passable(err), n.keepTracked(rules, path, old))
}

// read takes over the rules of a nested repository, which is at a path of the
// workspace and was old. Its files may be anywhere; an exclude file that cannot be
// read has no rules.
func (n *nested) read(repo *usergit.Repository, rules *Rules, path string, old *nested) error {
	if repo.Linked && rules.sources.Repository != nil {
		common, err := repo.Identity()
		if err == nil && common.Device == rules.common.Device && common.Inode == rules.common.Inode {
			n.worktree = true
			return nil
		}
	}
	if repo.CommonDir == "" {
		return n.keepTracked(rules, path, old)
	}
	exclude := filepath.Join(repo.CommonDir, "info", "exclude")
	if err := n.note(exclude); err != nil {
		return err
	}
	if data, err := usergit.ReadFile(exclude, MaxIgnoreFile); err == nil {
		n.exclude = string(data)
	}
	if err := n.note(filepath.Join(repo.GitDir, "index")); err != nil {
		return err
	}
	index, err := repo.Index()
	unsupported := (*usergit.UnsupportedError)(nil)
	switch {
	case err == nil:
		n.tracked = index.PathsBelow("")
		return nil
	case errors.As(err, &unsupported):
		return nil
	}
	return n.keepTracked(rules, path, old)
}

// keepTracked goes on with what was tracked when that was last known.
func (n *nested) keepTracked(rules *Rules, path string, old *nested) (err error) {
	n.unread = true
	if old != nil && old.isRepository {
		n.tracked = old.tracked
		return nil
	}
	n.tracked, err = rules.lastTrackedIn(path)
	return err
}

func (n *nested) note(path string) error {
	state, err := stateOf(path, os.Stat)
	if err != nil && passable(err) != nil {
		return err
	}
	n.inputs = append(n.inputs, input{path, os.Stat, state})
	return nil
}

// changed tells whether the repository's files are others than when it was
// read.
func (n *nested) changed() bool {
	if n.unread {
		return true
	}
	for _, in := range n.inputs {
		now, err := stateOf(in.path, in.look)
		if err != nil || !now.same(in.state) {
			return true
		}
	}
	return false
}

// gitDirs are the directories that Git uses for one work tree and that no name tells
// from files: a .git that is a link or a file leads to a directory of any name, which
// may lie in the workspace. Captured, it would be restored: branches would go back,
// and commits be deleted. It may not be among the files however it is come by, and so
// it is known by what it is.
func gitDirs(repo *usergit.Repository) []usergit.Identity {
	if repo == nil || repo.GitDir == "" {
		return nil
	}
	var list []usergit.Identity
	add := func(dir string) {
		if id, err := usergit.Identify(dir); err == nil && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	if repo.TopLevel == "" || repo.GitDir != filepath.Join(repo.TopLevel, gitName) {
		add(repo.GitDir)
	}
	if repo.CommonDir != "" && repo.CommonDir != repo.GitDir {
		add(repo.CommonDir)
	}
	for _, dir := range lenders(repo) {
		add(dir)
	}
	for _, dir := range []string{repo.GitDir, repo.CommonDir} {
		for _, part := range []string{"objects", "objects/pack", "refs", "reftable", "logs", "modules", "worktrees", "lfs", "annex"} {
			at := filepath.Join(dir, part)
			if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
				if real, err := filepath.EvalSymlinks(at); err == nil {
					add(real)
				}
			}
		}
	}
	return list
}

// lenders are the directories whose objects a repository borrows: whole repositories, as
// a mirror that it was cloned with reference to, or nothing but objects. What a restore
// took from one of them would be gone from the borrower's history.
func lenders(repo *usergit.Repository) (list []string) {
	for n, dir := range borrowed(repo) {
		if n > 0 {
			if isRepository(filepath.Dir(dir)) {
				dir = filepath.Dir(dir)
			}
			list = append(list, dir)
		}
	}
	return list
}

// borrowed are the directories of objects that a repository has, its own first. A list
// that can't be read names none, for Git neither.
func borrowed(repo *usergit.Repository) []string {
	if repo == nil || repo.CommonDir == "" {
		return nil
	}
	list, _ := objects.Alternates(filepath.Join(repo.CommonDir, "objects"))
	return list
}

// alternates are the files that say so.
func alternates(repo *usergit.Repository) (list []string) {
	for _, dir := range borrowed(repo) {
		list = append(list, filepath.Join(dir, "info", "alternates"))
	}
	return list
}

func isRepository(dir string) bool {
	for _, part := range []string{"HEAD", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, part)); err != nil {
			return false
		}
	}
	return true
}

// reserved are the directories that a capture passes over: those it is told of, the
// repository's, and those of nested repositories that were found before and are
// there still.
func (s *Scanner) reserved(rules *Rules) *reserved {
	s.gitDirs = slices.DeleteFunc(s.gitDirs, func(dir usergit.Identity) bool {
		now, err := usergit.Identify(dir.Path)
		return err != nil || now != dir
	})
	list := slices.Clone(s.workspace.Avoid)
	for _, dir := range slices.Concat(rules.gitDirs, s.gitDirs) {
		list = append(list, beneath.Identity{Device: dir.Device, Inode: dir.Inode})
	}
	return &reserved{known: list, gits: sync.OnceValue(s.base.gitPlaces)}
}

// reserved are directories that a walk passes over.
type reserved struct {
	known []beneath.Identity
	gits  func() []beneath.Identity // of which only what is Git's was left out; few walks ask
	found []usergit.Identity        // that it did not know of, and may have been in
}

// met notes the directories of a nested repository that the walk did not know of.
func (w *walker) met(n *nested) {
	for _, dir := range n.dirs {
		if !slices.Contains(w.reserved.known, beneath.Identity{Device: dir.Device, Inode: dir.Inode}) {
			w.mu.Lock()
			w.reserved.found = append(w.reserved.found, dir)
			w.mu.Unlock()
		}
	}
}
