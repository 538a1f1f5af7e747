package capture

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

const gitName = ".git"

// nested is a directory's ".git", whether or not it makes a repository of it.
type nested struct {
	isRepository bool
	worktree     bool // of the repository that holds the workspace
	exclude      string
	tracked      *trackedSet
	inputs       []input
	unread       bool // it could not be told, and is looked at again each time
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
	repo, err := usergit.At(dir)
	if err == nil && repo.GitDir == "" {
		err = repo.Unread
	}
	damaged := (*usergit.DamagedError)(nil)
	switch {
	case err == nil:
		n.isRepository = true
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
	if data, err := usergit.ReadFile(exclude, maxIgnoreFile); err == nil {
		n.exclude = string(data)
	}
	if err := n.note(filepath.Join(repo.GitDir, "index")); err != nil {
		return err
	}
	index, err := repo.Index()
	unsupported := (*usergit.UnsupportedError)(nil)
	switch {
	case err == nil:
		n.tracked = newTrackedSet(index, "")
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
