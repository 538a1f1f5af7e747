package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// forking makes a fork of the mission as it is. It is there whole, or not at all.
func forking(_ context.Context, w *world) (scene, error) {
	w.made++
	if err := w.edit(2); err != nil {
		return scene{}, err
	}
	old, _, err := survey(w.work)
	name := fmt.Sprintf("fork-%d", w.made)
	at := filepath.Join(w.dir, "forks", name)
	return scene{
		args: []string{"fork", "one", "--no-launch", "--name", name, "--workspace", at}, old: old,
		settle: func(ctx context.Context, w *world, f fate) error {
			if _, err := w.alone(ctx, w.work, "doctor", "--fix"); err != nil {
				return fmt.Errorf("doctor after a fork: %w", err)
			}
			return w.endFork(ctx, name, at, old, f)
		},
	}, err
}

// endFork holds a fork against its source, if it is there, but for what was said to
// have stayed behind, and removes it.
func (w *world) endFork(ctx context.Context, name, at string, source manifest, f fate) error {
	list, err := w.missions(ctx)
	if err != nil {
		return err
	}
	there := false
	for _, m := range list {
		there = there || m.Name == name
	}
	if !there {
		if !f.killed && (f.code == 0 || f.code == partlyCode) {
			return fmt.Errorf("%s was told of as made, and is no mission", name)
		}
		return w.noFork(ctx, name, at)
	}
	held, kept, err := survey(at)
	if err != nil {
		return fmt.Errorf("the workspace of %s: %w", name, err)
	}
	left := f.left()
	if d := held.without(left).differs(source.without(left)); d != "" {
		return fmt.Errorf("%s is not what its source was, but for %q:\n%s", name, left, d)
	}
	if d := kept.without(left).differs(w.kept.without(left)); d != "" {
		return fmt.Errorf("the ignored files of %s are not those of its source, but for %q:\n%s", name, left, d)
	}
	if _, err := w.git(ctx, at, "status", "--short"); err != nil {
		return fmt.Errorf("git in %s: %w", name, err)
	}
	if _, err := w.alone(ctx, w.work, "mission", "rm", name, "--workspace", "--yes"); err != nil {
		return err
	}
	return w.noFork(ctx, name, at)
}

// noFork checks that nothing of a fork is there: no mission, directory, branch or
// worktree.
func (w *world) noFork(ctx context.Context, name, at string) error {
	if _, err := os.Lstat(at); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is no mission, and %s is there (%v)", name, at, err)
	}
	branches, err := w.git(ctx, w.work, "for-each-ref", "--format=%(refname)", "refs/heads/umbra/"+name)
	if err != nil || strings.TrimSpace(branches) != "" {
		return fmt.Errorf("%s is no mission, and there is its branch %s (%v)", name, branches, err)
	}
	trees, err := w.git(ctx, w.work, "worktree", "list", "--porcelain")
	if err != nil || strings.Contains(trees, at+"\n") {
		return fmt.Errorf("%s is no mission, and there is its worktree (%v)", name, err)
	}
	return nil
}

func (w *world) missions(ctx context.Context) ([]lab.Mission, error) {
	var list []lab.Mission
	return list, w.umbra.JSON(ctx, w.work, &list, "mission", "ls", "--no-daemon")
}

// unforking takes away what a killed fork has made.
func unforking(ctx context.Context, w *world) (scene, error) {
	s, err := packing(forking)(ctx, w)
	if err != nil {
		return s, err
	}
	at := []string{"fork.filled", "fork.worktree", "fork.flushed", "fork.kept"}
	f, err := w.execute(ctx, s, death{point: at[w.rand.IntN(len(at))], pass: 1})
	if err != nil {
		return s, err
	}
	if !f.killed {
		return s, fmt.Errorf("a fork was to be killed: %s", f)
	}
	s.args = []string{"doctor", "--fix"}
	settle := s.settle
	s.settle = func(ctx context.Context, w *world, _ fate) error { return settle(ctx, w, f) }
	return s, nil
}

// removing removes a fork, its workspace too.
func removing(ctx context.Context, w *world) (scene, error) {
	s, err := forking(ctx, w)
	if err != nil {
		return s, err
	}
	name, at := s.args[4], s.args[6]
	if _, err := w.alone(ctx, w.work, s.args...); err != nil {
		return s, err
	}
	s.args = []string{"mission", "rm", name, "--workspace", "--yes"}
	s.settle = func(ctx context.Context, w *world, f fate) error {
		list, err := w.missions(ctx)
		if err != nil {
			return err
		}
		for _, m := range list {
			if m.Name != name {
				continue
			}
			if !f.killed && f.code == 0 {
				return fmt.Errorf("%s was told of as removed, and is there", name)
			}
			if _, err := w.alone(ctx, w.work, "mission", "rm", name, "--workspace", "--yes"); err != nil {
				return fmt.Errorf("remove it again: %w", err)
			}
		}
		if _, err := w.alone(ctx, w.work, "doctor", "--fix"); err != nil {
			return fmt.Errorf("doctor after a removal: %w", err)
		}
		return w.noFork(ctx, name, at)
	}
	return s, nil
}

// promoting brings home a fork that has changed files and made one, to a mission whose
// workspace was changed meanwhile.
func promoting(ctx context.Context, w *world) (scene, error) {
	s, err := forking(ctx, w)
	if err != nil {
		return s, err
	}
	name, at := s.args[4], s.args[6]
	if _, err := w.alone(ctx, w.work, s.args...); err != nil {
		return s, err
	}
	brought, here := filepath.Join("brought", name), filepath.Join(w.work, "meanwhile", name)
	if err := errors.Join(w.write(filepath.Join(at, brought), name), w.write(here, name)); err != nil {
		return s, err
	}
	if s.old, _, err = survey(w.work); err != nil {
		return s, err
	}
	// What is to come is what is there, with what the fork has made.
	if err := w.write(filepath.Join(w.work, brought), name); err != nil {
		return s, err
	}
	if s.new, _, err = survey(w.work); err != nil {
		return s, err
	}
	s.args = []string{"promote", name, "--keep"}
	s.settle = func(ctx context.Context, w *world, f fate) error {
		if _, err := w.alone(ctx, w.work, "mission", "rm", name, "--workspace", "--yes"); err != nil {
			return fmt.Errorf("remove a fork that was promoted: %w", err)
		}
		return w.noFork(ctx, name, at)
	}
	return s, os.Remove(filepath.Join(w.work, brought))
}

// merging merges such a fork. A merge that waits after a kill is ended by --continue.
func merging(ctx context.Context, w *world) (scene, error) {
	s, err := promoting(ctx, w)
	if err != nil {
		return s, err
	}
	s.args = []string{"merge", s.args[1]}
	settle := s.settle
	s.settle = func(ctx context.Context, w *world, f fate) error {
		_, err := w.alone(ctx, w.work, "merge", "--status", "--into", w.mission.ID)
		var exit *exec.ExitError
		switch {
		case err == nil:
			if _, err := w.alone(ctx, w.work, "merge", "--continue", "--into", w.mission.ID); err != nil {
				return fmt.Errorf("end a merge that was cut off: %w", err)
			}
		case !errors.As(err, &exit) || exit.ExitCode() != notFoundCode:
			return fmt.Errorf("ask for a merge that was cut off: %w", err)
		}
		return settle(ctx, w, f)
	}
	return s, nil
}

// renaming gives the mission another name, and then its own again.
func renaming(_ context.Context, w *world) (scene, error) {
	old, _, err := survey(w.work)
	return scene{args: []string{"mission", "rename", "one", "two"}, old: old, settle: func(ctx context.Context, w *world, f fate) error {
		list, err := w.missions(ctx)
		if err != nil {
			return err
		}
		if len(list) != 1 || list[0].ID != w.mission.ID || list[0].Name != "one" && list[0].Name != "two" {
			return fmt.Errorf("after a renaming the missions are %+v", list)
		}
		if list[0].Name == "one" {
			if !f.killed && f.code == 0 {
				return errors.New("the mission was told of as renamed, and is not")
			}
			if _, err := w.alone(ctx, w.work, "mission", "rename", w.mission.ID, "two"); err != nil {
				return fmt.Errorf("rename it again: %w", err)
			}
		}
		if _, err := w.alone(ctx, w.work, "doctor", "--fix"); err != nil {
			return fmt.Errorf("doctor after a renaming: %w", err)
		}
		_, err = w.alone(ctx, w.work, "mission", "rename", "two", "one")
		return err
	}}, err
}
