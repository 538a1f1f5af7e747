package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// beginning makes a mission in a home of its own, whose first snapshot borrows
// from the user's repository.
func beginning(ctx context.Context, w *world) (scene, error) {
	ground, u, err := w.newHome(ctx)
	if err != nil {
		return scene{}, err
	}
	old, _, err := survey(w.work)
	if err != nil {
		return scene{}, err
	}
	args := []string{"--no-daemon", "mission", "new", "--no-launch", "--name", "first", "--", "true"}
	return scene{args: args[1:], umbra: u, dir: ground, old: old, settle: func(ctx context.Context, w *world, f fate) error {
		var list []lab.Mission
		if err := u.JSON(ctx, ground, &list, "mission", "ls", "--no-daemon"); err != nil {
			return err
		}
		if len(list) == 0 {
			if !f.killed && f.code == 0 {
				return fmt.Errorf("a mission was told of as made, and is not there")
			}
			if _, said, err := u.Run(ctx, ground, args...); err != nil {
				return fmt.Errorf("make it again: %w %s", err, said)
			}
		}
		return w.endHome(ctx, u, ground, f)
	}}, nil
}

// newHome takes the oldest repository that waits, and makes a home.
func (w *world) newHome(ctx context.Context) (ground string, u *lab.Umbra, err error) {
	if err := w.nextGround(ctx); err != nil {
		return "", nil, err
	}
	ground, w.grounds = w.grounds[0], w.grounds[1:]
	if err := w.commit(ctx, ground); err != nil {
		return "", nil, err
	}
	if w.made%2 == 0 { // its objects are in a pack
		if _, err := w.git(ctx, ground, "repack", "-adq"); err != nil {
			return "", nil, err
		}
	}
	u, err = lab.NewUmbra(w.umbra.Binary, ground+"-homes")
	return ground, u, err
}

// endHome holds a home of its own against what it must hold, and removes it with
// the user's repository.
func (w *world) endHome(ctx context.Context, u *lab.Umbra, ground string, f fate) error {
	if _, said, err := u.Run(ctx, ground, "doctor", "--fix", "--no-daemon"); err != nil {
		return fmt.Errorf("doctor --fix: %w %s", err, said)
	}
	if _, said, err := u.Run(ctx, ground, "doctor", "--no-daemon"); err != nil {
		return fmt.Errorf("doctor after doctor --fix: %w %s", err, said)
	}
	var list []lab.Mission
	if err := u.JSON(ctx, ground, &list, "mission", "ls", "--no-daemon"); err != nil {
		return err
	}
	if len(list) != 1 || list[0].Head == "" {
		return fmt.Errorf("the missions are %+v", list)
	}
	held, _, err := survey(ground)
	if err != nil {
		return err
	}
	text, err := list[0].Git(ctx, "ls-tree", "-r", "-z", "--full-tree", list[0].Head)
	if err != nil {
		return err
	}
	out, err := leftOut(ctx, list[0], list[0].Head)
	if err != nil {
		return err
	}
	has := listed(text)
	if f.unruled() {
		has = has.without([]string{ignored})
	}
	if d := has.differs(held.without(out)); d != "" {
		return fmt.Errorf("the first snapshot is not what was there, but for %q:\n%s", out, d)
	}
	// What the user's repository loses, the snapshot keeps.
	if err := os.RemoveAll(filepath.Join(ground, ".git")); err != nil {
		return err
	}
	if _, err := list[0].Git(ctx, "fsck", "--full", "--no-progress"); err != nil {
		return err
	}
	if err := leftovers(filepath.Join(u.Base, "umbra")); err != nil {
		return err
	}
	return removeAll(ground, u.Base)
}

// removeAll removes all of it, what is in directories that are closed too.
func removeAll(paths ...string) error {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				err = os.Chmod(at, 0o755)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// verifying compares what was borrowed with its ids.
func verifying(ctx context.Context, w *world) (scene, error) {
	s, err := beginning(ctx, w)
	if err != nil {
		return s, err
	}
	if _, _, err := s.umbra.Run(ctx, s.dir, append([]string{"--no-daemon"}, s.args...)...); err != nil {
		return s, err
	}
	s.args = []string{"doctor"}
	return s, nil
}
