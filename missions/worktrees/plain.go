package worktrees

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// plainName is the name of a worktree in a path and in a branch, where the client has no
// slash either.
func plainName(name string) string { return strings.ReplaceAll(name, "/", "+") }

// plainDirs are where the worktree of a name may be: where the client itself puts it, and
// beside that, where no other name leads.
func (r Repository) plainDirs(name string) []string {
	first := filepath.Join(r.Top, ".claude", "worktrees", plainName(name))
	dirs := []string{first}
	for n := 2; n < 10; n++ {
		dirs = append(dirs, fmt.Sprintf("%s~%d", first, n))
	}
	return dirs
}

// Plain is the plain worktree of a name, if there is one: the client's own, or one that
// MakePlain has made.
func (r Repository) Plain(name string) (dir string, ok bool) {
	for _, dir := range r.plainDirs(name) {
		if r.isPlain(dir) {
			return dir, true
		}
	}
	return "", false
}

// isFree reports whether a worktree can be made in a directory.
func isFree(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	if !info.IsDir() {
		return false
	}
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}

// isPlain reports whether a directory is itself a linked worktree of the repository: the
// agent refuses one that belongs to the main checkout.
func (r Repository) isPlain(dir string) bool {
	if r.Common == "" || !isDirectory(dir) {
		return false
	}
	repo, err := usergit.Discover(dir)
	return err == nil && repo.Unread == nil && repo.Linked && repo.CommonDir == r.Common && disk.IsSameFile(repo.TopLevel, dir)
}

// MakePlain makes the worktree of a name that the client would: in .claude/worktrees, on
// the branch worktree-NAME. It asks Git alone, and nothing of Umbra's. A branch of that
// name that is there keeps its commits: the worktree is on it, or on no branch at all. What is in
// the way stays, and the worktree lies beside it.
func (r Repository) MakePlain(ctx context.Context, user map[string]string, name string) (string, error) {
	if r.Common == "" {
		return "", fmt.Errorf("%s is in no Git repository, and no mission of Umbra's", r.Top)
	}
	if dir, ok := r.Plain(name); ok {
		return dir, nil
	}
	dirs := r.plainDirs(name)
	i := slices.IndexFunc(dirs, isFree)
	if i < 0 {
		return "", fmt.Errorf("%s is in the way: it is no worktree", dirs[0])
	}
	dir := dirs[i]
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	branch := "worktree-" + plainName(name)
	var first error
	ways := [][]string{{"-b", branch, dir, "HEAD"}, {dir, branch}}
	if !r.isInUse(ctx, user, branch) { // an entry of a worktree that is gone is no reason to have none
		ways = append(ways, []string{"--force", dir, branch}, []string{"--force", "-b", branch, dir, "HEAD"})
	}
	ways = append(ways,
		[]string{"--force", "--detach", dir, branch},
		[]string{"--force", "--detach", dir, "HEAD"},
		[]string{"--orphan", "-b", branch, dir}, // a repository without a commit
	)
	for _, how := range ways {
		_, err := git.Run(ctx, git.Command{Dir: r.Top, User: gitVariables(user), Args: append([]string{"worktree", "add", "--quiet"}, how...)})
		if r.isPlain(dir) {
			return dir, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	if first == nil {
		first = errors.New("git has made none")
	}
	return "", first
}

// isInUse reports whether a worktree that is there may be on a branch.
func (r Repository) isInUse(ctx context.Context, user map[string]string, branch string) bool {
	out, err := git.Run(ctx, git.Command{Dir: r.Top, User: gitVariables(user), Args: []string{"worktree", "list", "--porcelain"}})
	if err != nil {
		return true
	}
	for entry := range strings.SplitSeq(string(out), "\n\n") {
		lines := strings.Split(entry, "\n")
		isGone := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "prunable") }) || !isDirectory(strings.TrimPrefix(lines[0], "worktree "))
		if !isGone && slices.Contains(lines, "branch refs/heads/"+branch) {
			return true
		}
	}
	return false
}

// removePlain removes a plain worktree that has nothing of its own: git refuses one with
// changes, and ignored files are looked for here, since git would take them along. Its
// branch stays.
func (r Repository) removePlain(ctx context.Context, user map[string]string, dir string) error {
	out, err := git.Run(ctx, git.Command{Dir: dir, User: gitVariables(user), Args: []string{"status", "--porcelain", "--ignored", "--untracked-files=normal"}})
	if err != nil {
		return err
	}
	if len(out) > 0 {
		first, _, _ := strings.Cut(string(out), "\n")
		return fmt.Errorf("%s has files that are nowhere else, such as %s", dir, strings.TrimSpace(first[min(len(first), 2):]))
	}
	if err := r.checkCommits(ctx, user, dir); err != nil {
		return err
	}
	_, err = git.Run(ctx, git.Command{Dir: filepath.Dir(r.Common), GitDir: r.Common, User: gitVariables(user), Args: []string{"worktree", "remove", dir}})
	return err
}

// checkCommits refuses a worktree on no branch whose commits nothing else leads to.
func (r Repository) checkCommits(ctx context.Context, user map[string]string, dir string) error {
	run := func(args ...string) (string, error) {
		out, err := git.Run(ctx, git.Command{Dir: dir, User: gitVariables(user), Args: args})
		return strings.TrimSpace(string(out)), err
	}
	if branch, err := run("symbolic-ref", "--quiet", "HEAD"); err == nil && strings.HasPrefix(branch, "refs/heads/") {
		return nil
	}
	own, err := run("rev-list", "--max-count=1", "HEAD", "--not", "--branches", "--tags", "--remotes")
	if err != nil {
		return err
	}
	if own != "" {
		return fmt.Errorf("%s is on no branch, and its commit %s is nowhere else", dir, own)
	}
	return nil
}

// gitVariables are those of an environment that Git reads.
func gitVariables(env map[string]string) map[string]string {
	some := map[string]string{}
	for _, name := range projects.GitVariables() {
		if v := env[name]; v != "" {
			some[name] = v
		}
	}
	return some
}
