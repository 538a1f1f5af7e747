package fork

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/git"
)

// worktree is a fork's linked worktree and branch, as they are by now.
type worktree struct {
	git    *userGit // for the worktree, or for the repository if it is gone
	admin  string   // its entry, "" if it is gone
	branch string   // the full name of the fork's branch
	commit string   // what the branch names, "" if it is gone
	head   string   // a commit that the worktree's HEAD names without a branch
}

// openWorktree finds what the user's repository has of the fork; nil if the
// repository itself is gone.
func openWorktree(ctx context.Context, doc Document, there bool) (*worktree, error) {
	if _, err := os.Stat(doc.CommonDir); err != nil {
		if vanished(err) {
			err = nil
		}
		return nil, err
	}
	w := &worktree{branch: "refs/heads/" + doc.Branch}
	var err error
	if w.admin, err = entryOf(doc); err != nil {
		return nil, err
	}
	if w.admin == "" && there {
		w.admin = ownEntry(doc)
	}
	gitDir, top := doc.CommonDir, ""
	if w.admin != "" {
		gitDir = w.admin
	}
	if w.admin != "" && there {
		top = doc.Directory
	}
	if w.git, err = openUserGit(ctx, doc.Operation, gitDir, top); err != nil {
		return nil, err
	}
	if w.commit, err = w.git.resolve(ctx, w.branch); err != nil {
		return nil, err
	}
	if w.admin == "" {
		return w, nil
	}
	_, err = w.git.run(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	if exitedWith(err, 1) {
		w.head, err = w.git.resolve(ctx, "HEAD")
	}
	return w, err
}

// ownEntry is the entry that a directory which was proved to be the fork's
// leads to, if that leads back: the user may have unlocked it.
func ownEntry(doc Document) string {
	admin, err := adminOf(doc.Directory)
	if err != nil || filepath.Dir(admin) != filepath.Join(doc.CommonDir, "worktrees") {
		return ""
	}
	if dir, err := directoryOf(admin); err != nil || dir != doc.Directory {
		return ""
	}
	return admin
}

// directoryOf is the directory that a worktree's entry leads to.
func directoryOf(admin string) (string, error) {
	data, err := os.ReadFile(filepath.Join(admin, "gitdir"))
	if err != nil {
		return "", err
	}
	path := strings.TrimRight(string(data), "\r\n")
	if !filepath.IsAbs(path) {
		path = filepath.Join(admin, path)
	}
	return filepath.Dir(path), nil
}

func (w *worktree) tips() []string {
	var tips []string
	for _, tip := range []string{w.commit, w.head} {
		if tip != "" {
			tips = append(tips, tip)
		}
	}
	return tips
}

// only lists the commits that tips reach and no ref but the fork's branch does.
func (w *worktree) only(ctx context.Context, tips ...string) ([]string, error) {
	if len(tips) == 0 {
		return nil, nil
	}
	args := append([]string{"log", "--format=%H %s", "--no-show-signature"}, tips...)
	out, err := w.git.run(ctx, nil, append(args, "--not", "--exclude="+w.branch, "--glob=refs/*")...)
	if err != nil {
		return nil, err
	}
	var commits []string
	for line := range strings.SplitSeq(string(out), "\n") {
		if line != "" {
			commits = append(commits, line)
		}
	}
	return commits, nil
}

// checkedOut tells whether some worktree is on the fork's branch.
func (w *worktree) checkedOut(ctx context.Context) (bool, error) {
	out, err := w.git.run(ctx, nil, "worktree", "list", "--porcelain", "-z")
	return strings.Contains(string(out), "\x00branch "+w.branch+"\x00"), err
}

// save gives commits that only the worktree's HEAD reaches a branch, so that
// git does not collect them, and returns its name.
func (w *worktree) save(ctx context.Context) (string, error) {
	if w.head == "" {
		return "", nil
	}
	lost, err := w.git.run(ctx, nil, "rev-list", "-n", "1", w.head, "--not", "--glob=refs/*")
	if err != nil || len(lost) == 0 {
		return "", err
	}
	for n := range maxBranches {
		name := w.branch + "-detached"
		if n > 0 {
			name = fmt.Sprintf("%s-%d", name, n+1)
		}
		_, err := w.git.run(ctx, nil, "update-ref", "--create-reflog", "-m", "umbra: commits of a removed fork",
			name, w.head, strings.Repeat("0", len(w.head)))
		if err == nil {
			return strings.TrimPrefix(name, "refs/heads/"), nil
		}
		if !refused(err, "exists") {
			return "", err
		}
	}
	return "", errors.New("no name is free for the branch of detached commits")
}

// removeBranch deletes the fork's branch, unless it holds commits of its own or
// is in use. It reports whether the branch is gone.
func (w *worktree) removeBranch(ctx context.Context) (bool, error) {
	if w.commit == "" {
		return true, nil
	}
	own, err := w.only(ctx, w.commit)
	if err != nil || len(own) > 0 {
		return false, err
	}
	if used, err := w.checkedOut(ctx); err != nil || used {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	// A git that is killed leaves its locks to the user.
	_, err = w.git.run(context.WithoutCancel(ctx), nil, "update-ref", "-d", w.branch, w.commit)
	if failed := (*git.Error)(nil); errors.As(err, &failed) && refused(err, "but expected") {
		return false, nil // it has just moved
	}
	if err != nil {
		return false, err
	}
	section := "branch." + strings.TrimPrefix(w.branch, "refs/heads/")
	_, err = w.git.run(ctx, nil, "config", "--local", "--remove-section", section)
	if failed := (*git.Error)(nil); errors.As(err, &failed) {
		err = nil // it had no settings
	}
	return err == nil, err
}
