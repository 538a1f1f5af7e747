package commits

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
)

// IsOnBranch reports whether a commit is on a branch, the user's own or one that was fetched.
func IsOnBranch(ctx context.Context, m missions.Mission, environ []string, id string) bool {
	r, err := openRepository(ctx, m, Options{Environ: environ})
	if err != nil || id == "" {
		return false
	}
	on, err := r.line("for-each-ref", "--count=1", "--contains="+id, "--format=%(refname)", "refs/heads", "refs/remotes")
	return err == nil && on != ""
}
