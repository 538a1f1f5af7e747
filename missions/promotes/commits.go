package promotes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// commits are what a fork has committed, and where the parent's repository stands.
type commits struct {
	repo   *usergit.Repository // the parent's; nil where there is none, or none to speak of
	head   usergit.Head        // the parent's
	branch string              // the fork's
	at     string              // the fork's HEAD
	list   []missions.Commit   // of the fork's, which the parent's HEAD does not lead to
	err    error               // why they are not known
}

// maxNamedCommits is how many commits a result names at most.
const maxNamedCommits = 100

// findCommits looks for the fork's commits. A repository that can't be read fails
// nothing: a promotion moves no branch unless it is asked to.
func findCommits(ctx context.Context, fork, parent *projects.Mission) (c commits) {
	repo, err := usergit.Discover(parent.Binding.Workspace)
	if err == nil {
		err = projects.UnreadRepositoryError(repo)
	}
	if err == nil {
		c.head, err = repo.Head()
	}
	if err != nil {
		c.err = err
		return c
	}
	c.repo, c.at, c.branch = repo, fork.Tip.GitHead, fork.Tip.GitBranch
	if now, err := headOf(fork); err == nil {
		c.at, c.branch = now.ID.String(), snapshots.BranchName(now.Branch())
	}
	if id, err := usergit.ParseID(c.at); err != nil || id.IsZero() || id == c.head.ID || c.head.ID.IsZero() {
		return c
	}
	out, err := git.Run(ctx, git.Command{
		GitDir: repo.CommonDir, Args: []string{"log", fmt.Sprintf("--max-count=%d", maxNamedCommits), "-z", "--format=%H %s", c.head.ID.String() + ".." + c.at, "--"},
	})
	if c.err = err; err != nil {
		return c
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if id, subject, ok := strings.Cut(line, " "); ok {
			c.list = append(c.list, missions.Commit{ID: id, Subject: subject})
		}
	}
	return c
}

// headOf is HEAD of a fork's workspace now.
func headOf(fork *projects.Mission) (usergit.Head, error) {
	repo, err := usergit.Discover(fork.Binding.Workspace)
	if err != nil {
		return usergit.Head{}, err
	}
	return repo.Head()
}

// mergeCommand is what merges the fork's commits by hand.
func (c commits) mergeCommand() string {
	return "git merge " + home.ShellQuote(cmp.Or(c.branch, c.at))
}

// branchMove is a fast-forward of the parent's HEAD, and of its index.
type branchMove struct {
	repo     *usergit.Repository
	name     string // of the branch, or HEAD
	from, to string
	changed  []string // by the commits, in the parent's workspace
}

// planMove plans the fast-forward, and says why there can be none before anything is
// changed. It is nil where there is nothing to move.
// tree is the fork's, as it is promoted.
func (c commits) planMove(ctx context.Context, fork, parent *projects.Mission, tree gitstore.ID) (*branchMove, error) {
	refuse := func(hint, format string, args ...any) error {
		return missions.Errorf(missions.KindConflict, hint+"leave --commits out: the files come over without", "--commits: "+format+"; nothing was changed", args...)
	}
	if c.err != nil {
		return nil, refuse("", "the repository of %s can't be read: %v", parent.Name, c.err)
	}
	if len(c.list) == 0 {
		return nil, nil
	}
	m := &branchMove{repo: c.repo, name: snapshots.BranchName(c.head.Branch()), from: c.head.ID.String(), to: c.at}
	if m.name == "" {
		m.name = "HEAD"
	}
	forward, err := snapshots.IsAncestor(ctx, c.repo, m.from, m.to)
	if err != nil {
		return nil, refuse("", "whether %s leads to %.10s can't be told: %v", m.name, m.from, err)
	}
	if !forward {
		return nil, refuse("merge them later: "+c.mergeCommand()+"; or ", "%s has commits that %s does not have", m.name, fork.Name)
	}
	outside, unkept, err := m.pathsLeftBehind(ctx, fork, parent, tree)
	switch {
	case err != nil:
		return nil, refuse("", "which files the commits change can't be told: %v", err)
	case len(outside) > 0:
		return nil, refuse("bring them by Git: "+c.mergeCommand()+"; or ",
			"they change what is outside of the workspace of %s, where a promotion brings no files: %s", parent.Name, missions.NameSome(outside))
	case len(unkept) > 0:
		return nil, refuse("bring them by Git: "+c.mergeCommand()+"; or ",
			"they change files that Umbra does not keep, so that a promotion does not bring them: %s", missions.NameSome(unkept))
	}
	if err := m.readTree(ctx, m.from, m.to, "-n"); err != nil {
		return nil, refuse("commit or unstage it first, or ", "what is staged in %s is in the way of the commits: %s", parent.Name, reason(err))
	}
	return m, nil
}

// do moves the index first: where the branch can't follow, the index goes back.
func (m *branchMove) do(ctx context.Context) error {
	if err := m.readTree(ctx, m.from, m.to); err != nil {
		return err
	}
	_, err := m.git(ctx, "update-ref", "-m", "umbra promote: fast-forward", "HEAD", m.to, m.from)
	if err != nil {
		return errors.Join(err, m.readTree(ctx, m.to, m.from))
	}
	_, _ = m.git(ctx, "update-index", "-q", "--refresh") // else git status does it
	return nil
}

// MoveBranch moves the branch of a parent to the commits of a fork that is promoted already. It
// does nothing where the branch is there.
func (p *Promoter) MoveBranch(ctx context.Context, fork, parent *projects.Mission) error {
	move, err := findCommits(ctx, fork, parent).planMove(ctx, fork, parent, fork.Tip.Tree)
	if err != nil || move == nil {
		return err
	}
	return move.do(ctx)
}

// readTree moves the index from one commit to the other, whatever the files are, and
// keeps what is staged.
func (m *branchMove) readTree(ctx context.Context, from, to string, flags ...string) error {
	_, err := m.git(ctx, append(append([]string{"read-tree", "-i"}, flags...), "-m", from, to)...)
	return err
}

func (m *branchMove) git(ctx context.Context, args ...string) ([]byte, error) {
	return git.Run(ctx, git.Command{Dir: m.repo.TopLevel, GitDir: m.repo.GitDir, Env: []string{"GIT_WORK_TREE=" + m.repo.TopLevel}, Args: args})
}

// reason is what git said, in one line.
func reason(err error) string {
	if failed, ok := errors.AsType[*git.Error](err); ok && failed.Stderr != "" {
		return strings.Join(strings.Fields(failed.Stderr), " ")
	}
	return err.Error()
}

// addNotes moves the parent's branch, if that was asked for, and says what became
// of the fork's commits.
func (c commits) addNotes(ctx context.Context, r *missions.PromoteResult, asked missions.PromoteRequest, move *branchMove) {
	note := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	switch {
	case len(c.list) == 0 && asked.Commits:
		note("%s has no commits of its own", r.FromName)
	case len(c.list) == 0:
	case asked.ConversationOnly:
		note("%s", c.staysText())
	case !asked.Commits && r.Done:
		note("%s: the files are here without, and --commits moves the branch here to them", c.staysText())
	case !asked.Commits:
		note("%s; --commits moves the branch here to them", c.staysText())
	case move != nil && r.Done:
		if why := move.incompleteText(r.RestoreResult); why != "" {
			note("%s was not moved to the commits of %s: %s; the same command does it once that is settled", move.name, r.FromName, why)
			return
		}
		if err := move.do(ctx); err != nil {
			note("%s was not moved to the commits of %s: %s", move.name, r.FromName, reason(err))
			return
		}
		r.MovedBranch = move.name
	case move != nil && r.Queued:
		note("%s", notMovedYetText(move.name, r.FromName))
	case move != nil:
		r.MovedBranch = move.name // in a plan
	}
}

// notMovedYetText says that a promotion which waits moves no branch.
func notMovedYetText(branch, fork string) string {
	return fmt.Sprintf("%s is not moved to the commits of %s by that: the same command does it afterwards", branch, fork)
}

// ConfirmBranch corrects what a plan said of the parent's branch, once another process has
// promoted the fork: whether the branch has moved.
func (p *Promoter) ConfirmBranch(parent *projects.Mission, r *missions.PromoteResult) {
	branch := r.MovedBranch
	if branch == "" {
		return
	}
	repo, err := usergit.Discover(parent.Binding.Workspace)
	if err == nil {
		var head usergit.Head
		if head, err = repo.Head(); err == nil && head.ID.String() == r.Commits[0].ID {
			return
		}
	}
	r.MovedBranch = ""
	r.Notes = append(r.Notes, notMovedYetText(branch, r.FromName))
}

// incompleteText says which files the commits change and a promotion did not bring, ""
// if there is none. Those do not count of which the user chose the parent's.
func (m *branchMove) incompleteText(r missions.RestoreResult) string {
	kept := slices.DeleteFunc(slices.Clone(r.Kept), func(k missions.PathReason) bool {
		return slices.ContainsFunc(r.Foreign, func(f missions.PathReason) bool { return f.Path == k.Path })
	})
	if paths := m.changedAt(kept); len(paths) > 0 {
		return missions.NameSome(paths) + " did not come along"
	}
	if paths := m.changedAt(r.Displaced); len(paths) > 0 {
		return "another program wrote " + missions.NameSome(paths) + " meanwhile"
	}
	return ""
}

// changedAt lists the paths that the commits change and that are among those of a list,
// above or below one.
func (m *branchMove) changedAt(list []missions.PathReason) (paths []string) {
	for _, path := range m.changed {
		if slices.ContainsFunc(list, func(k missions.PathReason) bool { return home.IsWithin(k.Path, path) || home.IsWithin(path, k.Path) }) {
			paths = append(paths, path)
		}
	}
	return paths
}

// staysText says where the fork's commits are.
func (c commits) staysText() string {
	at, n := cmp.Or(c.branch, c.at[:10]), len(c.list)
	switch {
	case n == 1:
		return "1 commit of the fork stays on " + at
	case n >= maxNamedCommits:
		return fmt.Sprintf("%d or more commits of the fork stay on %s", n, at)
	}
	return fmt.Sprintf("%d commits of the fork stay on %s", n, at)
}
