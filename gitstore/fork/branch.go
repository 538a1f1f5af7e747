package fork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

// maxBranches is how many names of a branch are tried.
const maxBranches = 1000

// survivor is the first commit of the moment's HEAD and its ancestors that the
// user's repository still has with its tree, "" if none.
func survivor(ctx context.Context, g *userGit, src Source) (string, error) {
	chain := slices.DeleteFunc(append([]string{src.Head}, src.Ancestors...), func(id string) bool { return id == "" })
	chain = slices.Compact(chain)
	if len(chain) == 0 {
		return "", nil
	}
	var names []string
	for _, id := range chain {
		if !gitstore.IsCommitName(id) {
			return "", fmt.Errorf("%q is not a commit's id", id)
		}
		names = append(names, id+"^{commit}", id+"^{tree}")
	}
	have, err := g.present(ctx, names)
	if err != nil {
		return "", err
	}
	for i, id := range chain {
		if have[2*i] && have[2*i+1] {
			return id, nil
		}
	}
	return "", nil
}

// branchNames gives names for a mission's branch, best first: umbra/<name>, or
// umbra-<name> where a branch "umbra" is in the way, then with a number.
func branchNames(ctx context.Context, g *userGit, mission string) (func() (string, bool), error) {
	out, err := g.run(ctx, nil, "for-each-ref", "--format=%(refname)", "refs/heads/")
	if err != nil {
		return nil, err
	}
	// Where refs are files, names that differ by case may be one.
	taken := map[string]bool{}
	for line := range strings.SplitSeq(strings.ToLower(string(out)), "\n") {
		taken[strings.TrimPrefix(line, "refs/heads/")] = true
	}
	stem := "umbra/" + mission
	if taken["umbra"] {
		stem = "umbra-" + mission
	}
	n := 0
	return func() (string, bool) {
		for n < maxBranches {
			n++
			name := stem
			if n > 1 {
				name = fmt.Sprintf("%s-%d", stem, n)
			}
			if lower := strings.ToLower(name); !taken[lower] && !hasBelow(taken, lower) {
				return name, true
			}
		}
		return "", false
	}, nil
}

func hasBelow(taken map[string]bool, name string) bool {
	for other := range taken {
		if strings.HasPrefix(other, name+"/") {
			return true
		}
	}
	return false
}

func reflogMessage(operation string) string { return "umbra: fork " + operation }

func lockReason(operation string) string {
	return "workspace of an Umbra mission (operation " + operation + ")"
}

// chooseBranch takes the next name for the branch, which is recorded before the
// branch is made.
func (k *maker) chooseBranch() error {
	if k.source == nil {
		return nil
	}
	name, ok := k.branches()
	if !ok {
		return fmt.Errorf("no name is free for the branch of %q", k.target.Name)
	}
	k.doc.Branch = name
	return nil
}

// addWorktree makes the branch and the linked worktree in the directory that
// exists already, empty. What it will make is recorded before it is made: the
// branch's name is, and the directory's identity is being recorded.
func (k *maker) addWorktree(ctx context.Context) error {
	doc, made := k.doc, false
	err := together(ctx, func(context.Context) error { return k.record(doc) }, func(ctx context.Context) (err error) {
		if err = k.staging.addObjects(ctx, k.source, k.src.Store); err != nil {
			return fmt.Errorf("staged content: %w", err)
		}
		made, err = k.addBranch(ctx)
		return err
	})
	for err == nil && !made {
		if err = k.chooseBranch(); err == nil {
			err = k.record(k.doc)
		}
		if err == nil {
			made, err = k.addBranch(ctx)
		}
	}
	if err == nil {
		failpoint.Hit("fork.branch")
		err = k.linkWorktree(ctx)
	}
	if err != nil {
		return fmt.Errorf("linked worktree: %w", err)
	}
	k.made.Branch, k.made.Head = k.doc.Branch, k.doc.Head
	return nil
}

// addBranch makes the branch. It reports false if somebody has just made one of
// that name.
func (k *maker) addBranch(ctx context.Context) (bool, error) {
	zeros := strings.Repeat("0", len(k.doc.Head))
	_, err := k.locked(ctx, "update-ref", "--create-reflog", "-m", reflogMessage(k.doc.Operation),
		"refs/heads/"+k.doc.Branch, k.doc.Head, zeros)
	if refused(err, "exists") {
		return false, nil
	}
	return err == nil, err
}

func (k *maker) linkWorktree(ctx context.Context) error {
	_, err := k.locked(ctx, "worktree", "add", "--no-checkout", "--lock", "--reason", lockReason(k.doc.Operation),
		k.doc.Directory, k.doc.Branch)
	for _, state := range []string{"missing but locked worktree", "missing but already registered worktree"} {
		if refused(err, state) { // the entry may lead to a directory that was moved: the user decides
			return fmt.Errorf("%w, but %w", &TargetError{k.doc.Directory, "is not there"}, ErrWorktreeNoted)
		}
	}
	if err != nil {
		return err
	}
	admin, err := adminOf(k.doc.Directory)
	failpoint.Hit("fork.worktree")
	k.git = &userGit{operation: k.doc.Operation, gitDir: admin, top: k.doc.Directory, admin: admin, filters: k.source.filters}
	if err != nil {
		return err
	}
	return k.git.settle(ctx)
}

// locked runs git on the source's repository, again while some other git holds
// a lock there, as that of another fork does for an instant. A git that has
// begun is let end, or it would leave its own locks to the user.
func (k *maker) locked(ctx context.Context, args ...string) ([]byte, error) {
	const attempts = 20
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out, err := k.source.run(context.WithoutCancel(ctx), nil, args...)
		if err == nil || n == attempts || !passing(err) {
			return out, err
		}
		if err := k.remakeDirectory(); err != nil {
			return nil, err
		}
		if err := pause(ctx, n); err != nil {
			return nil, err
		}
	}
}

// passing tells whether git failed at what another git is in the midst of: it
// holds a lock, or writes the entry of another worktree, which git takes for
// damaged until it is whole.
func passing(err error) bool {
	return refused(err, ".lock': File exists") || refused(err, "failed to read ") && refused(err, "/worktrees/")
}

// remakeDirectory makes the directory again, which a git that fails to add a
// worktree may have removed.
func (k *maker) remakeDirectory() error {
	_, err := os.Lstat(k.doc.Directory)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Mkdir(k.doc.Directory, 0o777); err != nil {
		return err
	}
	root, err := beneath.Open(k.doc.Directory)
	if err != nil {
		return err
	}
	defer root.Close()
	k.doc.Identity, k.doc.Born = root.Identity(), beneath.Born(k.doc.Directory)
	return k.record(k.doc)
}

// adminOf is the entry of a linked worktree in its repository.
func adminOf(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, ".git"))
	if err != nil {
		return "", err
	}
	path, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
	if !ok {
		return "", errors.New(filepath.Join(dir, ".git") + " is not that of a linked worktree")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path), nil
}
