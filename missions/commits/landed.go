package commits

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
)

// AreOnBranch reports whether all these commits, one at least, are on a branch, the user's
// own or one that was fetched.
func AreOnBranch(ctx context.Context, m missions.Mission, environ, ids []string) bool {
	r, err := openRepository(ctx, m, Options{Environ: environ})
	if err != nil {
		return false
	}
	if len(ids) == 0 {
		return false
	}
	for _, id := range ids {
		on, err := r.line("for-each-ref", "--count=1", "--contains="+id, "--format=%(refname)", "refs/heads", "refs/remotes")
		if err != nil || on == "" {
			return false
		}
	}
	return true
}
