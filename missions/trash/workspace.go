package trash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// TrashWorkspace keeps the workspace in a last snapshot and moves the directory to the
// trash. Nobody is at work there but leaver, a process that asks for it itself; 0 is none.
func (b *Bin) TrashWorkspace(ctx context.Context, m *projects.Mission, leaver int, result *missions.RemoveResult) error {
	if m.IsWorkspaceGone() {
		return b.trashWorkspaceRemains(ctx, m, result)
	}
	if _, err := b.snapshots.SubmitRequest(ctx, m.Project, m.ID, &snapshots.Request{Take: &missions.TakeSnapshot{Trigger: missions.TriggerManual, Message: "before the removal", OnlyIfChanged: true}}); err != nil {
		return err
	}
	return b.moveWorkspace(ctx, m, leaver, result)
}

// moveWorkspace is TrashWorkspace without that snapshot.
func (b *Bin) moveWorkspace(ctx context.Context, m *projects.Mission, leaver int, result *missions.RemoveResult) error {
	if m.IsWorkspaceGone() {
		return b.trashWorkspaceRemains(ctx, m, result)
	}
	trash := b.Home.Path("trash", m.ID)
	if err := disk.MakeDirs(b.Home.Dir, trash); err != nil {
		return err
	}
	var discarded fork.Discarded
	err := b.WithRecoveredWorkspace(ctx, m, func(m *projects.Mission) error {
		_, err := b.missionsWithin(m) // no agent has begun in it meanwhile
		if p, alive := m.Live.LivingProcess(); alive && p.PID != leaver {
			err = missions.Errorf(missions.KindBusy, "umbra mission rm "+m.Name+" --force stops it first", "mission %s has an agent at work (pid %d)", m.Name, p.PID)
		}
		if err == nil {
			discarded, err = fork.Discard(ctx, *m.Binding.Fork, trash)
		}
		return err
	})
	if err != nil {
		_ = os.Remove(trash) // stays if something is in it
		return err
	}
	addDiscarded(result, discarded)
	return nil
}

// isWorkspaceMoved reports whether the user has moved the workspace: it is there, but
// not the directory that Umbra made, or not where Umbra made it.
func isWorkspaceMoved(m *projects.Mission) bool {
	if m.Binding.Fork == nil || m.IsWorkspaceGone() {
		return false
	}
	standing, err := m.Binding.Fork.IsStanding()
	return err != nil || !standing
}

// isWorktreeNoted reports whether git still lists the worktree of a workspace that is gone.
func isWorktreeNoted(m *projects.Mission) (bool, error) {
	if _, err := os.Lstat(m.Binding.Worktree); err == nil {
		return false, nil
	}
	free, err := fork.IsFree(m.Binding.Worktree, m.Binding.Fork.CommonDir)
	return err == nil && !free, err
}

// movedWorkspaceNote says how the user can remove a workspace that was moved.
func movedWorkspaceNote(m *projects.Mission) string {
	stays := m.Binding.Workspace + " stays: it is not where Umbra made it, in " + m.Binding.Fork.Directory
	if m.Binding.Branch == "" {
		return stays + "; remove it yourself"
	}
	return stays + "; so do its worktree and branch " + m.Binding.Branch + ": " +
		home.RemovalCommand(m.Binding.Worktree, "git -C "+home.ShellQuote(m.Binding.Worktree)+" worktree remove --force --force .") + " removes the worktree"
}

// trashWorkspaceRemains removes from the user's repository what a removal left there
// when it was cut off after it had moved the workspace: the entry of the worktree, and
// the branch. A workspace that the user moved stays as it is.
func (b *Bin) trashWorkspaceRemains(ctx context.Context, m *projects.Mission, result *missions.RemoveResult) error {
	if len(b.pathsInTrash(m.ID)) == 0 {
		result.Kept = append(result.Kept, m.Binding.Workspace+" is not there: wherever it was moved to, it stays")
	}
	trash := b.Home.Path("trash", m.ID)
	if err := disk.MakeDirs(b.Home.Dir, trash); err != nil {
		return err
	}
	rest, err := fork.Discard(ctx, *m.Binding.Fork, trash)
	var moved *fork.TargetError
	if err != nil && !errors.As(err, &moved) {
		return err
	}
	if moved != nil {
		result.Kept = append(result.Kept, moved.Error()+": it stays, with its branch")
	}
	addDiscarded(result, rest)
	return nil
}

// addDiscarded says what became of a workspace.
func addDiscarded(r *missions.RemoveResult, discarded fork.Discarded) {
	for _, where := range []string{discarded.Directory, discarded.Entry} {
		if where != "" {
			r.Trash = append(r.Trash, where)
		}
	}
	for _, branch := range discarded.Kept {
		r.Kept = append(r.Kept, "branch "+branch+" stays: it is in use, or holds commits that are nowhere else")
	}
}

// UntrashWorkspace puts a removed workspace back in its place. If something else is
// there, it refuses and changes nothing.
func (b *Bin) UntrashWorkspace(ctx context.Context, m *projects.Mission) error {
	if m.Binding.Fork == nil {
		return nil
	}
	trash := b.Home.Path("trash", m.ID)
	reclaimed, err := fork.Reclaim(ctx, *m.Binding.Fork, trash)
	var taken *fork.TargetError
	if errors.As(err, &taken) {
		return missions.Errorf(missions.KindConflict, "move "+taken.Directory+" away, then try again",
			"the workspace of %s can't go back: %s %s", m.Name, taken.Directory, taken.Reason)
	}
	if err != nil {
		return fmt.Errorf("put the workspace of %s back: %w", m.Name, err)
	}
	if reclaimed.Standing {
		if err := fork.ReturnStaged(ctx, *m.Binding.Fork, m.Project.Store); err != nil {
			return fmt.Errorf("put the staged files of %s back: %w", m.Name, err)
		}
	}
	if reclaimed.Moved {
		missions.Notify(ctx, missions.Notice{Text: "its workspace is in " + m.Binding.Workspace + " again, as it was"})
	}
	for _, note := range reclaimed.Notes {
		missions.Notify(ctx, missions.Notice{Text: note})
	}
	_ = os.Remove(trash) // stays if something is in it
	return nil
}

// tellMissingWorkspace says, of a mission that is back without its workspace, what a
// launch would do and what is still in the trash.
func (b *Bin) tellMissingWorkspace(ctx context.Context, m *projects.Mission) {
	if m.Binding.Fork == nil || !m.IsWorkspaceGone() {
		return
	}
	missions.Notify(ctx, missions.Notice{Text: fmt.Sprintf("its workspace %s is not there: umbra mission resume %s makes it again from the newest snapshot, without what was in none, such as ignored files", m.Binding.Workspace, m.Name)})
	if left := b.pathsInTrash(m.ID); len(left) > 0 {
		missions.Notify(ctx, missions.Notice{Text: "in the trash are still, to be copied from: " + strings.Join(left, ", ")})
	}
}

// pathsInTrash lists what is in a mission's directory of the trash.
func (b *Bin) pathsInTrash(mission string) []string {
	entries, err := os.ReadDir(b.Home.Path("trash", mission))
	if err != nil {
		return nil
	}
	var paths []string
	for _, e := range entries {
		path := b.Home.Path("trash", mission, e.Name())
		paths = append(paths, cmp.Or(home.TrashedBeside(path), path))
	}
	return paths
}
