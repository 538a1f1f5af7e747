package restores

import (
	"context"
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// PlanGit compares the user's repository at a snapshot with the repository now. A
// restore never moves HEAD or a branch, so the user decides where they have moved. For
// an undo, the snapshot is that of the operation and not its safety snapshot, which may
// be older.
func (rs *Restorer) PlanGit(ctx context.Context, m *projects.Mission, j *Job, at *gitstore.Snapshot) error {
	then, _, err := snapshots.ReadGitRecord(m.Project, at)
	if err != nil {
		return err
	}
	j.Result.Git.Then = missions.GitState{Head: then.Head, Branch: snapshots.BranchName(then.Branch), Operation: then.Operation}
	ws, err := rs.snapshots.RefreshWorkspace(ctx, m)
	if err != nil {
		return err
	}
	if ws.Repo == nil {
		return nil
	}
	head, err := ws.Repo.Head()
	if err != nil {
		j.Result.Notes = append(j.Result.Notes, "the repository's HEAD can't be read: "+err.Error())
		return nil
	}
	now := missions.GitState{Head: head.ID.String(), Branch: snapshots.BranchName(head.Branch())}
	if ops, err := ws.Repo.Operations(); err == nil && len(ops) > 0 {
		now.Operation = string(ops[0])
	}
	j.Result.Git.Now = now
	if j.Files == nil || j.Result.Git.Then.Head == "" && now.Head == "" {
		return nil
	}
	rs.addGitRefusals(ctx, ws, then.HeadUnreadReason(), rs.isOfOtherWorkspace(m, at), j)
	return nil
}

// isOfOtherWorkspace reports whether a snapshot was taken in another workspace than the
// mission's, as a fork's moments before its fork point were. Git has a branch checked
// out in one worktree only, so the branch of such a moment is never the one here.
func (rs *Restorer) isOfOtherWorkspace(m *projects.Mission, at *gitstore.Snapshot) bool {
	if at.Mission == m.ID {
		return false
	}
	workspace, _, err := rs.conversations.ConversationDirs(m.Project, at)
	return err != nil || workspace != m.Binding.Workspace
}

// addGitRefusals adds what speaks against a restore of files in the present state of
// the repository. unread is why HEAD could not be read when the snapshot was taken, ""
// if it could be. The branch of another workspace does not count, its commit does.
func (rs *Restorer) addGitRefusals(ctx context.Context, ws *snapshots.WorkspaceCache, unread string, elsewhere bool, j *Job) {
	then, now := j.Result.Git.Then, j.Result.Git.Now
	refuse := func(hint, format string, args ...any) {
		j.Refusals = append(j.Refusals, missions.Errorf(missions.KindConflict, hint+"; or --force", format, args...))
	}
	if now.Operation != "" && now.Operation != then.Operation {
		refuse("finish or abort it first", "a %s is in progress in %s", now.Operation, ws.Root)
	}
	if j.promotion != nil || j.merge != nil {
		return // the fork's branch is its own, and its commits are named with the result
	}
	if unread != "" {
		j.Result.Notes = append(j.Result.Notes, "HEAD of that moment could not be read ("+unread+"): whether the repository stood elsewhere then can't be told")
		return
	}
	if now.Branch != then.Branch && !elsewhere {
		refuse(snapshots.BranchReturnHint(ctx, ws.Repo, then), "the repository is on %s now and was on %s then", branchName(now), branchName(then))
		return
	}
	if now.Head == then.Head || then.Head == "" {
		return
	}
	var ok bool
	var err error
	if now.Head != "" {
		ok, err = snapshots.IsAncestor(ctx, ws.Repo, then.Head, now.Head)
	}
	switch {
	case errors.Is(err, snapshots.ErrCommitGone):
		refuse("look with git log", "HEAD is %s now; %.10s, where it was then, is no longer in the repository", headName(now), then.Head)
	case err != nil:
		refuse("look with git log", "whether HEAD moved on from %.10s can't be told: %v", then.Head, err)
	case !ok:
		refuse(snapshotHeadHint(ctx, ws, then, now), "HEAD is %s now, which does not descend from %.10s of then", headName(now), then.Head)
	default:
		j.Result.Notes = append(j.Result.Notes, fmt.Sprintf(
			"HEAD has moved on since: files go back, commits stay; git reset %.10s would take the commits back too, and unstage what is staged", then.Head))
	}
}

// snapshotHeadHint says how HEAD comes to where it was then: forward, with the files as they
// are, where it was taken back since.
func snapshotHeadHint(ctx context.Context, ws *snapshots.WorkspaceCache, then, now missions.GitState) string {
	if now.Head != "" {
		if forward, err := snapshots.IsAncestor(ctx, ws.Repo, now.Head, then.Head); forward && err == nil {
			return fmt.Sprintf("git reset %.10s moves HEAD there again, and leaves the files as they are", then.Head)
		}
	}
	return "git log " + then.Head
}

// headName is the commit of HEAD. A new branch has none.
func headName(g missions.GitState) string {
	if g.Head == "" {
		return "at no commit"
	}
	return fmt.Sprintf("%.10s", g.Head)
}

func branchName(g missions.GitState) string {
	if g.Branch == "" {
		return "no branch"
	}
	return "branch " + g.Branch
}
