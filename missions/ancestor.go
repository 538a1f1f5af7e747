package missions

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// isAncestor reports whether one commit of the user's repository is another's
// ancestor; errCommitGone if the older is not there.
func isAncestor(ctx context.Context, repo *usergit.Repository, old, now string) (bool, error) {
	_, err := gitstore.RunGit(ctx, gitstore.GitCommand{GitDir: repo.CommonDir, Args: []string{"merge-base", "--is-ancestor", old, now}})
	var failed *gitstore.GitError
	if errors.As(err, &failed) && failed.ExitCode == 1 {
		return false, nil
	}
	if failed != nil {
		_, gone := gitstore.RunGit(ctx, gitstore.GitCommand{GitDir: repo.CommonDir, Args: []string{"cat-file", "-e", old}})
		if errors.As(gone, &failed) && failed.ExitCode == 1 {
			return false, errCommitGone
		}
	}
	return err == nil, err
}

// errCommitGone: a commit was collected since, or pruned by hand.
var errCommitGone = errors.New("the commit is no longer in the repository")
