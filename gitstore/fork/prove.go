package fork

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// settle gives the new worktree a place of its own in its settings where those that
// it shares with the source name another. Git takes a shared core.worktree or
// core.bare for each worktree's once extensions.worktreeConfig is set, as a sparse
// checkout does in a submodule: a git command in the fork would work in the source.
func (g *userGit) settle(ctx context.Context) error {
	repo, err := usergit.At(g.top)
	if err != nil || repo.Unread != nil || !repo.Linked || repo.TopLevel == g.top {
		return err // what is wrong here the proof tells
	}
	own := filepath.Join(g.admin, "config.worktree")
	for _, setting := range [][2]string{{"core.bare", "false"}, {"core.worktree", g.top}} {
		if _, err := g.run(ctx, nil, "config", "--file", own, setting[0], setting[1]); err != nil {
			return err
		}
	}
	return nil
}

// prove shows that the worktree leads to the source's repository and stands on the
// fork's branch, and that git, run from inside, works in it.
func (k *maker) prove(ctx context.Context) error {
	repo, err := usergit.At(k.doc.Directory)
	if err == nil {
		err = repo.Unread
	}
	if err != nil {
		return err
	}
	if !repo.Linked || !sameRepository(repo, k.src.Repo) {
		return fmt.Errorf("%s leads to %s", filepath.Join(k.doc.Directory, ".git"), repo.GitDir)
	}
	head, err := repo.Head()
	unsupported := (*usergit.UnsupportedError)(nil) // git alone can read its refs
	switch {
	case errors.As(err, &unsupported):
	case err != nil:
		return err
	case head.Branch() != k.doc.Branch || head.ID.String() != k.doc.Head:
		return fmt.Errorf("HEAD in %s is not %s at %s", repo.GitDir, k.doc.Branch, short(k.doc.Head))
	}
	return k.git.worksIn(ctx, k.doc.Directory, k.git.admin)
}

// worksIn shows that git, run in dir with nothing said of where its repository is,
// takes dir for the top level and gitDir for its git directory, and can tell the
// state of the files.
func (g *userGit) worksIn(ctx context.Context, dir, gitDir string) error {
	inside := userGit{operation: g.operation, inside: dir, filters: g.filters}
	out, err := inside.run(ctx, nil, "rev-parse", "--show-toplevel", "--absolute-git-dir")
	if err != nil {
		return err
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for i, want := range []string{dir, gitDir} {
		if i >= len(got) || !disk.IsSameFile(got[i], want) {
			return fmt.Errorf("git in %s works in %s", dir, bytes.TrimSpace(out))
		}
	}
	_, err = inside.run(ctx, nil, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
	return err
}
