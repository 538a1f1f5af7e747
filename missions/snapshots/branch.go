package snapshots

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// IsAncestor reports whether the old commit of the user's repository is an ancestor of
// the other. The error is ErrCommitGone if the old commit is not there.
func IsAncestor(ctx context.Context, repo *usergit.Repository, old, now string) (bool, error) {
	_, err := git.Run(ctx, git.Command{GitDir: repo.CommonDir, Args: []string{"merge-base", "--is-ancestor", old, now}})
	var failed *git.Error
	if errors.As(err, &failed) && failed.ExitCode == 1 {
		return false, nil
	}
	if failed != nil {
		_, gone := git.Run(ctx, git.Command{GitDir: repo.CommonDir, Args: []string{"cat-file", "-e", old}})
		if errors.As(gone, &failed) && failed.ExitCode == 1 {
			return false, ErrCommitGone
		}
	}
	return err == nil, err
}

// ErrCommitGone says that a commit was collected since, or pruned by hand.
var ErrCommitGone = errors.New("the commit is no longer in the repository")

// BranchReturnHint is the git command that takes the user's repository back to where it
// stood, or why there is none: the branch may be gone, or checked out in another
// worktree.
func BranchReturnHint(ctx context.Context, repo *usergit.Repository, then missions.GitState) string {
	if then.Branch == "" {
		return "git switch --detach " + home.ShellQuote(then.Head)
	}
	there, elsewhere, err := findBranch(ctx, repo, then.Branch)
	switch {
	case err != nil || there && elsewhere == "":
		return "git switch " + home.ShellQuote(then.Branch)
	case there:
		return fmt.Sprintf("branch %s can't be checked out here while it is in %s", then.Branch, elsewhere)
	case then.Head == "":
		return "git switch --orphan " + home.ShellQuote(then.Branch)
	}
	return fmt.Sprintf("git switch -c %s %s makes that branch again, which is gone", home.ShellQuote(then.Branch), home.ShellQuote(fmt.Sprintf("%.10s", then.Head)))
}

// findBranch reports whether the user's repository has a branch, and which worktree has
// it checked out.
func findBranch(ctx context.Context, repo *usergit.Repository, branch string) (there bool, worktree string, err error) {
	ref := "refs/heads/" + branch
	out, err := git.Run(ctx, git.Command{
		GitDir: repo.CommonDir, Args: []string{"for-each-ref", "--format=%(refname) %(worktreepath)", "--", ref},
	})
	if err != nil {
		return false, "", err
	}
	worktree, there = strings.CutPrefix(strings.TrimSuffix(string(out), "\n"), ref+" ")
	return there, worktree, nil
}

// BranchName is a branch's short name.
func BranchName(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }
