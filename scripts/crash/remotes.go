package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// A remote is a bare repository that missions are pushed to and fetched from.
type remote struct {
	*world
	name       string
	repository string
}

// newRemote makes one, and names it to the project of the world's workspace. It has the
// missions of a project.
func newRemote(ctx context.Context, w *world, project string) (remote, error) {
	w.made++
	r := remote{world: w, name: fmt.Sprintf("remote-%d", w.made)}
	r.repository = filepath.Join(w.dir, r.name+".git")
	if _, err := w.git(ctx, w.dir, "init", "-q", "--bare", r.repository); err != nil {
		return r, err
	}
	_, err := w.alone(ctx, w.work, "remote", "add", r.name, r.repository, "--project", project)
	return r, err
}

// pushing sends the world's mission to a remote that has nothing of it.
func pushing(ctx context.Context, w *world) (scene, error) {
	r, err := newRemote(ctx, w, "theirs")
	if err != nil {
		return scene{}, err
	}
	old, _, err := survey(w.work)
	args := []string{"push", r.name, "one"}
	return scene{args: args, old: old, settle: func(ctx context.Context, w *world, _ fate) error {
		if err := r.settle(ctx, args...); err != nil {
			return err
		}
		refs, err := w.git(ctx, r.repository, "for-each-ref", "--format=%(objectname)")
		if tip, noTip := w.shadow(ctx, "rev-parse", w.mission.Ref); err == nil && noTip == nil && !strings.Contains(refs, strings.TrimSpace(tip)) {
			err = fmt.Errorf("%s was pushed, and the remote has %s", tip, refs)
		}
		return errors.Join(err, removeAll(r.repository))
	}}, err
}

// fetching brings the mission of another home.
func fetching(ctx context.Context, w *world) (scene, error) {
	r, err := newRemote(ctx, w, "elsewhere")
	if err != nil {
		return scene{}, err
	}
	if err := r.pushElsewhere(ctx); err != nil {
		return scene{}, fmt.Errorf("push the mission of another home: %w", err)
	}
	old, _, err := survey(w.work)
	args := []string{"fetch", r.name}
	return scene{args: args, old: old, settle: func(ctx context.Context, w *world, _ fate) error {
		return errors.Join(r.settle(ctx, args...), removeAll(r.repository))
	}}, err
}

// pushElsewhere has another home, which has a mission, push more of it.
func (r remote) pushElsewhere(ctx context.Context) error {
	w := r.world
	root := filepath.Join(w.dir, "elsewhere")
	other, err := lab.NewUmbra(w.umbra.Binary, filepath.Join(w.dir, "other-homes"))
	if err != nil {
		return err
	}
	_, err = os.Lstat(root)
	begun := err == nil
	if err := w.write(filepath.Join(root, "theirs"), fmt.Sprintf("text %d\n", w.made)); err != nil {
		return err
	}
	todo := [][]string{{"snapshot"}, {"remote", "add", r.name, r.repository}, {"push", r.name, "theirs"}}
	if !begun {
		todo = append([][]string{{"mission", "new", "--no-launch", "--name", "theirs", "--", "true"}}, todo...)
	}
	for _, args := range todo {
		if _, said, err := other.Run(ctx, root, append([]string{"--no-daemon"}, args...)...); err != nil {
			return fmt.Errorf("%q: %w %s", args, err, said)
		}
	}
	return nil
}

// exporting writes the newest snapshot, with all before it, to a file.
func exporting(ctx context.Context, w *world) (scene, error) {
	old, _, err := survey(w.work)
	args := []string{"export", w.last(), "-o", filepath.Join(w.dir, "exported")}
	return scene{args: args, old: old, settle: func(ctx context.Context, w *world, _ fate) error {
		_, err := w.alone(ctx, w.work, args...)
		return err
	}}, err
}

// settle repeats a command that speaks to a remote, cut off or not, and forgets the remote.
func (r remote) settle(ctx context.Context, args ...string) error {
	w := r.world
	if said, err := w.alone(ctx, w.work, args...); err != nil {
		return fmt.Errorf("%q once more: %w %s", args, err, said)
	}
	_, err := w.alone(ctx, w.work, "remote", "rm", r.name)
	return err
}
