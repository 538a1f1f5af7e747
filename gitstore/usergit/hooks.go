package usergit

import (
	"context"
	"fmt"
	"path/filepath"
)

// HooksDir is the directory in which Git, run in env by the user in this work
// tree, looks for hooks: core.hooksPath, or that of the common directory. It need
// not exist. See githooks(5).
func (r *Repository) HooksDir(ctx context.Context, env []string) (string, error) {
	config, err := ReadConfiguration(ctx, r.TopLevel, r, env, Patience)
	if err != nil {
		return "", err
	}
	if config.Unread != nil {
		return "", config.Unread
	}
	value, ok := config.Value("core.hookspath")
	if !ok || value == "" {
		return filepath.Join(r.CommonDir, "hooks"), nil
	}
	dir, err := environment(env).expand(value, r.TopLevel)
	if err != nil {
		return "", fmt.Errorf("core.hooksPath: %w", err)
	}
	return dir, nil
}
