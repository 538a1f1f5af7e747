package lab

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// A Native is a repository of snapshots as Umbra's peers keep it: a git
// directory beside the workspace, and git's own commands, a process each.
type Native struct {
	GitDir    string
	Workspace string
	Tip       string // the newest snapshot

	tree string // its tree
}

// nativeRef is where its snapshots are.
const nativeRef = "refs/snapshots/main"

// GitEnv is an environment in which git heeds nothing of the user's.
func GitEnv(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C.UTF-8",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@localhost",
		"GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@localhost",
	}
}

// NewNative makes the repository, empty.
func NewNative(ctx context.Context, gitDir, workspace string) (*Native, error) {
	n := &Native{GitDir: gitDir, Workspace: workspace}
	_, _, err := Command{Args: []string{"git", "init", "-q", "--bare", gitDir}, Env: n.env()}.Run(ctx)
	return n, err
}

func (n *Native) env() []string { return GitEnv(filepath.Dir(n.GitDir)) }

// Git runs one git command on the repository and its workspace.
func (n *Native) Git(ctx context.Context, args ...string) (Cost, string, error) {
	all := append([]string{"git", "--git-dir=" + n.GitDir, "--work-tree=" + n.Workspace, "-c", "core.bare=false"}, args...)
	cost, out, err := Command{Args: all, Dir: n.Workspace, Env: n.env()}.Run(ctx)
	return cost, strings.TrimSpace(string(out)), err
}

// Snapshot takes one, as peers do: add -A, write-tree and, if the tree is
// another than before, commit-tree and update-ref.
func (n *Native) Snapshot(ctx context.Context) (Cost, error) {
	total, _, err := n.Git(ctx, "add", "-A")
	if err != nil {
		return total, err
	}
	cost, tree, err := n.Git(ctx, "write-tree")
	total = total.plus(cost)
	if err != nil {
		return total, err
	}
	commit := []string{"commit-tree", "-m", "snapshot", tree}
	if n.Tip != "" {
		if n.tree == tree {
			return total, nil
		}
		commit = append(commit, "-p", n.Tip)
	}
	cost, id, err := n.Git(ctx, commit...)
	total = total.plus(cost)
	if err != nil {
		return total, err
	}
	cost, _, err = n.Git(ctx, "update-ref", nativeRef, id)
	n.Tip, n.tree = id, tree
	return total.plus(cost), err
}

// Restore puts a snapshot back, as peers do, without saving what is there.
func (n *Native) Restore(ctx context.Context, id string) (Cost, error) {
	cost, _, err := n.Git(ctx, "read-tree", "-u", "--reset", id)
	return cost, err
}

// Forget makes an older snapshot the newest again, after it was restored.
func (n *Native) Forget(id string) { n.Tip, n.tree = id, "" }
