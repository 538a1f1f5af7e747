package transfer_test

import (
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/transfer"
)

// The repository that a command is typed in says neither where a remote is nor what git runs.
func TestListObeysNoRepository(t *testing.T) {
	dir := t.TempDir()
	remote, workspace := filepath.Join(dir, "remote.git"), filepath.Join(dir, "workspace")
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", remote},
		{"init", "--quiet", workspace},
		{"-C", workspace, "config", "url." + filepath.Join(dir, "elsewhere") + ".insteadOf", remote},
	} {
		if _, err := git.Run(t.Context(), git.Command{Dir: dir, Args: args}); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(workspace)
	if refs, err := transfer.List(t.Context(), transfer.Remote{URL: remote}, "refs/"); err != nil || len(refs) != 0 {
		t.Error(refs, err)
	}
}
