package forks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// addSourceGit adds the state of the user's repository at the moment.
func (j *forkJob) addSourceGit(_ context.Context, source *fork.Source) error {
	g, staged, err := snapshots.ReadGitRecord(j.moment.Project, j.moment.Snapshot.Snapshot)
	if err != nil {
		return err
	}
	repo, err := j.sourceRepository(source.Live)
	if errors.Is(err, usergit.ErrNoRepository) || errors.Is(err, os.ErrNotExist) {
		if g.Head != "" {
			j.notes = append(j.notes, "The repository of the source is not where it was: the fork is a plain directory, without Git.")
		}
		return nil
	}
	if err == nil {
		err = projects.UnreadRepositoryError(repo)
	}
	if err != nil {
		return err
	}
	source.Repo, source.Scope = repo, j.moment.Binding.PathInRepo
	source.Head, source.Branch, source.Ancestors = g.Head, snapshots.BranchName(g.Branch), g.Ancestors
	source.Unread = g.HeadUnreadReason()
	if g.Operation != "" {
		j.notes = append(j.notes, fmt.Sprintf("git %s was under way in the source's repository: it goes on there alone. "+
			"The fork has its files, on a branch that begins at HEAD of that moment.", g.Operation))
	}
	for _, item := range staged.Entries {
		entry, err := stagedEntry(item)
		if err != nil {
			return missions.Errorf(missions.KindDamaged, "umbra doctor", "staged state of snapshot %s: %w", j.moment.Snapshot.ID.Short(), err)
		}
		source.Staged = append(source.Staged, entry)
	}
	return nil
}

// sourceRepository finds the user's repository: by the source's live workspace, else by
// the directory that the project was first seen in. That directory may have been a worktree
// that is gone by now: then the common directory of all worktrees is the repository.
func (j *forkJob) sourceRepository(live string) (*usergit.Repository, error) {
	if live != "" {
		return usergit.Discover(live)
	}
	repo, err := usergit.Discover(j.moment.Project.Locations.Path)
	common := cmp.Or(j.moment.Binding.CommonDir, j.moment.Project.Locations.CommonDir)
	if common == "" || err == nil && repo.CommonDir == common {
		return repo, err
	}
	if shared, failed := usergit.At(common); failed == nil {
		return shared, nil
	}
	return repo, err
}

// movedNote says what a fork of the past does not have, since the source's workspace was moved.
func movedNote(m *projects.Mission, to string) string {
	return fmt.Sprintf("%v: ignored files, and what else is in no snapshot, did not come along. For a fork that has them: %s",
		m.MovedError(to), m.MoveCommand(to))
}

// stagedEntry is a recorded staged entry as the fork needs it.
func stagedEntry(i snapshots.StagedItem) (fork.Staged, error) {
	mode, err := strconv.ParseUint(i.Mode, 8, 32)
	if err != nil {
		return fork.Staged{}, fmt.Errorf("%s: mode %q", i.Path, i.Mode)
	}
	e := fork.Staged{Path: i.Path, Mode: usergit.Mode(mode), Stage: i.Stage}
	e.IntentToAdd, e.SkipWorktree, e.AssumeValid = i.IntentToAdd, i.SkipWorktree, i.AssumeValid
	if i.ID == "" {
		return e, nil
	}
	if e.ID, err = usergit.ParseID(i.ID); err != nil {
		return e, fmt.Errorf("%s: %w", i.Path, err)
	}
	if !i.Missing && !i.IntentToAdd && gitstore.Mode(mode).IsBlob() {
		e.Blob, err = snapshots.ToStoreID(e.ID)
	}
	return e, err
}

// copiesIgnored reports whether the source's ignored files come along.
func (j *forkJob) copiesIgnored() bool { return j.request.Ignored != "skip" }

func (j *forkJob) target(ctx context.Context) fork.Target {
	making, text := &home.ProgressReporter{Ctx: ctx}, "making "+j.directory
	return fork.Target{
		Operation: j.Operation.ID(), Directory: j.directory, Name: j.name,
		CopyIgnored: j.copiesIgnored(), Limit: j.copyLimit, Force: j.request.Yes || j.request.Force,
		Trash: j.trash(), Undone: func(place string) { j.notifyUndone(ctx, place) },
		Progress: func(p fork.Progress) {
			making.Report(missions.Notice{
				Text: text, Done: int64(p.Files), Total: int64(p.TotalFiles), Unit: "files",
				Bytes: p.Bytes, TotalBytes: p.TotalBytes,
			})
		},
		Record: func(d fork.Document) error {
			j.doc.Workspace = d
			return j.Operation.Update(j.doc)
		},
	}
}
