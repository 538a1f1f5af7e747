package sideforks

import (
	"context"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// checkOthersWork refuses to take from a lent workspace what is in no snapshot that is surely
// the fork's: once the fork's agent has ended, anybody may have worked there. A snapshot of the
// fork that is asked for by hand says that it may go. The caller holds the workspace.
func (l *lender) checkOthersWork(ctx context.Context, m *projects.Mission) error {
	fork, err := l.LoadPublishedMission(m.Project, m.LentTo().Fork)
	if err != nil || fork == nil || !fork.IsLodger() || fork.IsWorkspaceGone() {
		return err // it is in the trash, or its last snapshot was taken before
	}
	last, err := lastOwnSnapshot(fork)
	if err != nil {
		return err
	}
	side, err := l.snapshots.PresentSide(ctx, fork)
	if err != nil {
		return err
	}
	var paths []string
	err = m.Project.Store.DiffTrees(last.Tree, side.Tree, func(c gitstore.Change) error {
		paths = append(paths, c.Path)
		return nil
	})
	if err != nil {
		return err
	}
	git, err := l.snapshots.GitSince(ctx, fork, last)
	if err != nil {
		return err
	}
	hint := fmt.Sprintf("umbra snapshot %s keeps it in %[1]s; then umbra mission resume %s takes it off the disk, or umbra promote %[1]s brings it home", fork.Name, m.Name)
	switch {
	case len(paths) > 0:
		return missions.Errorf(missions.KindConflict, hint, "the files of %s are not put back: since the last snapshot of its side fork %s, which has ended, somebody has changed %s", m.Name, fork.Name, missions.NameSome(paths))
	case git.Then != git.Now:
		return missions.Errorf(missions.KindConflict, hint, "the files of %s are not put back: since the last snapshot of its side fork %s, which has ended, HEAD was moved", m.Name, fork.Name)
	}
	return nil
}

// lastOwnSnapshot is the newest snapshot of a fork but for one that was taken when somebody
// found that its agent was gone: that may have been long after.
func lastOwnSnapshot(fork *projects.Mission) (*gitstore.Snapshot, error) {
	for s, err := range fork.Project.Store.Snapshots(fork.Tip.ID, shadow.HistoryOptions{}) {
		if err != nil {
			return nil, err
		}
		if s.Mission != fork.ID || !projects.TriggersOf(s).Has(missions.TriggerClose) {
			return s, nil
		}
		stored, err := fork.Project.ReadStored(s.Record)
		if err != nil {
			return nil, err
		}
		lifecycle, err := missions.UnmarshalLifecycle(stored.LifecycleJSON)
		if err != nil {
			return nil, err
		}
		if c, ok := lifecycle.(missions.Closed); !ok || c.Reason != missions.CloseReasonLost {
			return s, nil
		}
	}
	return fork.Tip, nil
}

// staysText says what of Git is not put back with the files of a mission: commits that were
// made while its workspace was lent, and what is staged.
func (l *lender) staysText(ctx context.Context, m *projects.Mission, lent string) (text string) {
	id, err := gitstore.ParseID(lent)
	if err != nil {
		return ""
	}
	then, err := m.Project.Store.Snapshot(id)
	if err != nil {
		return ""
	}
	git, err := l.snapshots.GitSince(ctx, m, then)
	if err != nil {
		l.Logger.Warn("compare the repository with what it was", "mission", m.ID, "error", err)
		return ""
	}
	n, err := l.snapshots.CountCommits(ctx, m, git)
	if err != nil {
		l.Logger.Warn("count commits", "mission", m.ID, "error", err)
	}
	if n > 0 {
		where, commits := git.Now.Branch, "git log "+short(git.Now.Head)
		if where == "" {
			where = "HEAD"
		}
		if git.Then.Head != "" {
			commits = "git log " + short(git.Then.Head) + ".." + short(git.Now.Head)
		}
		count := "1 commit that was made meanwhile stays"
		if n > 1 {
			count = fmt.Sprintf("%d commits that were made meanwhile stay", n)
		}
		text += fmt.Sprintf("; %s on %s: %s", count, where, commits)
	}
	if git.Restaged {
		text += "; what is staged is not as it was: git status"
	}
	return text
}

// staysNote is staysText before the fork is left, as notes.
func (l *lender) staysNote(ctx context.Context, parent *projects.Mission) (notes []string) {
	if parent.LentTo() == nil {
		return nil
	}
	err := l.WithWorkspaceLock(ctx, parent, func(parent *projects.Mission) error {
		if lent := parent.LentTo(); lent != nil {
			notes = strings.Split(l.staysText(ctx, parent, lent.Snapshot), "; ")[1:]
		}
		return nil
	})
	if err != nil {
		l.Logger.Warn("look at what stays of a side fork", "mission", parent.ID, "error", err)
	}
	return notes
}

func short(commit string) string { return fmt.Sprintf("%.10s", commit) }
