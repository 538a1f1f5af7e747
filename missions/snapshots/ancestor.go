package snapshots

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// IsAncestor reports whether one commit of the user's repository is another's
// ancestor; ErrCommitGone if the older is not there.
func IsAncestor(ctx context.Context, repo *usergit.Repository, old, now string) (bool, error) {
	_, err := gitstore.RunGit(ctx, gitstore.GitCommand{GitDir: repo.CommonDir, Args: []string{"merge-base", "--is-ancestor", old, now}})
	var failed *gitstore.GitError
	if errors.As(err, &failed) && failed.ExitCode == 1 {
		return false, nil
	}
	if failed != nil {
		_, gone := gitstore.RunGit(ctx, gitstore.GitCommand{GitDir: repo.CommonDir, Args: []string{"cat-file", "-e", old}})
		if errors.As(gone, &failed) && failed.ExitCode == 1 {
			return false, ErrCommitGone
		}
	}
	return err == nil, err
}

// ErrCommitGone: a commit was collected since, or pruned by hand.
var ErrCommitGone = errors.New("the commit is no longer in the repository")
