package gitdir

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore/git"
)

// SetPlace says in a copied git directory where its work tree is; "" that it is
// around it, as Git takes it to be. It is said in the file where it was: in the own
// one of the main worktree, once each has its own.
func SetPlace(ctx context.Context, gitDir, place string) error {
	all, err := os.ReadFile(filepath.Join(gitDir, "config"))
	if err != nil {
		return err
	}
	own, err := os.ReadFile(filepath.Join(gitDir, "config.worktree"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	inOwn := named(own, "worktree") && named(all, "worktreeconfig")
	for _, file := range []struct {
		name     string
		says, in bool
	}{{"config.worktree", named(own, "worktree"), inOwn}, {"config", named(all, "worktree"), !inOwn}} {
		at := filepath.Join(gitDir, file.name)
		var err error
		switch {
		case place != "" && file.in:
			_, err = config(ctx, at, "--replace-all", "core.worktree", place)
		case file.says:
			err = unset(ctx, at, "core.worktree")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// named tells whether a configuration file may have a setting of that name.
func named(config []byte, name string) bool {
	return bytes.Contains(bytes.ToLower(config), []byte(name))
}

// UnsetPlace takes core.worktree out of a configuration file, which need not exist.
func UnsetPlace(ctx context.Context, file string) error {
	content, err := os.ReadFile(file)
	if err != nil || !named(content, "worktree") {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	return unset(ctx, file, "core.worktree")
}

// config runs git config on a file, for none of the repositories: git would go where
// this one says.
func config(ctx context.Context, file string, args ...string) (string, error) {
	c := git.Command{GitDir: os.DevNull, Dir: filepath.Dir(file), Args: append([]string{"config", "--file", file}, args...)}
	out, err := git.Run(ctx, c)
	return string(out), err
}

// unset takes a setting out of a file that may not have it.
func unset(ctx context.Context, file, key string) error {
	_, err := config(ctx, file, "--unset-all", key)
	if failed := (*git.Error)(nil); errors.As(err, &failed) && failed.ExitCode == 5 {
		return nil
	}
	return err
}
