//go:build unix

package lock

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// Tree is a workspace held exclusively with every directory above it shared,
// so that nested workspaces and aliases of one workspace exclude each other
// while neighbours do not (H9). Captures and restores both hold one.
type Tree struct {
	locks  []*Lock
	device uint64
	inode  uint64
}

// TryTree takes the tree of the directory at workspace, or answers a
// *HeldError at once and holds nothing.
func TryTree(home, workspace string, owner Owner) (*Tree, error) {
	return takeTree(home, workspace, func(path string, mode Mode) (*Lock, error) {
		return Try(path, mode, owner)
	})
}

// WaitTree takes the tree of the directory at workspace, waiting for each
// lock in turn until the context ends. Everyone takes them from the root
// down, so two that wait cannot wait for each other.
func WaitTree(ctx context.Context, home, workspace string, owner Owner) (*Tree, error) {
	return takeTree(home, workspace, func(path string, mode Mode) (*Lock, error) {
		return Wait(ctx, path, mode, owner)
	})
}

// Identity is the workspace's device and inode at the time of locking. The
// caller compares them with the handle it works on: a directory moved in
// between is not the one that is locked.
func (t *Tree) Identity() (device, inode uint64) { return t.device, t.inode }

// Release frees the locks, from the workspace up.
func (t *Tree) Release() error {
	if t == nil {
		return nil
	}
	var errs []error
	for i := len(t.locks) - 1; i >= 0; i-- {
		errs = append(errs, t.locks[i].Release())
	}
	t.locks = nil
	return errors.Join(errs...)
}

func takeTree(home, workspace string, take func(string, Mode) (*Lock, error)) (*Tree, error) {
	for {
		line, err := lineage(workspace)
		if err != nil {
			return nil, err
		}
		own := line[len(line)-1]
		tree := &Tree{device: own.device, inode: own.inode}
		for i, dir := range line {
			mode := Shared
			if i == len(line)-1 {
				mode = Exclusive
			}
			l, err := take(WorkspaceFile(home, dir.device, dir.inode), mode)
			if err != nil {
				return nil, errors.Join(err, tree.Release())
			}
			tree.locks = append(tree.locks, l)
		}
		again, err := lineage(workspace)
		if err != nil {
			return nil, errors.Join(err, tree.Release())
		}
		if slices.Equal(line, again) {
			return tree, nil
		}
		// A directory was moved while we waited: what is above it now is not
		// what we hold.
		if err := tree.Release(); err != nil {
			return nil, err
		}
	}
}

type directory struct{ device, inode uint64 }

// lineage is the directory and those above it, the root first, each once. The
// kernel finds the parents, so that a path through links gives the true ones.
func lineage(path string) ([]directory, error) {
	var root unix.Stat_t
	if err := unix.Stat("/", &root); err != nil {
		return nil, fmt.Errorf("stat /: %w", err)
	}
	top := directory{device: uint64(root.Dev), inode: root.Ino}
	fd, err := openHandle(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(fd)
	var line []directory
	for up := "."; ; up += "/.." {
		var st unix.Stat_t
		err := unix.Fstatat(fd, up, &st, 0)
		if err == unix.EACCES && len(line) > 0 {
			// What this user cannot look at from here holds no workspace of
			// theirs that reaches here.
			return line, nil
		}
		if err != nil {
			return nil, fmt.Errorf("stat %s/%s: %w", path, up, err)
		}
		dir := directory{device: uint64(st.Dev), inode: st.Ino}
		// A directory can be above itself, by a bind mount.
		if !slices.Contains(line, dir) {
			line = slices.Insert(line, 0, dir)
		}
		if dir == top {
			return line, nil
		}
	}
}

func openHandle(path string) (int, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}
