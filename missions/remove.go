package missions

import (
	"context"
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/fork"
)

// Remove takes missions out of the project: their refs go to the trash, where
// they stay, and Unremove brings them back. Copies of conversations in Umbra's own
// store go there too, and with Workspace a workspace that Umbra made. With Preview nothing is done.
func (l *Local) Remove(ctx context.Context, r RemoveRequest) (RemoveResult, error) {
	result := RemoveResult{Missions: []Mission{}}
	if len(r.Missions) == 0 {
		return result, Errorf(KindUsage, "umbra mission rm NAME", "name the missions to remove")
	}
	list, err := l.findMissions(ctx, r.Caller, r.Missions)
	if err != nil {
		return result, err
	}
	for _, m := range list {
		if err := l.mayRemove(m, r); err != nil {
			return result, err
		}
		if err := l.lookBeforeRemoving(ctx, m, r, &result); err != nil {
			return result, err
		}
		result.Missions = append(result.Missions, l.view(m))
	}
	if r.Preview {
		return result, nil
	}
	for _, m := range list {
		if m, err = l.endForRemoval(ctx, m, r); err != nil {
			return result, err
		}
		if err := l.remove(ctx, m, r, &result); err != nil {
			return result, fmt.Errorf("remove %s: %w", m.Name, err)
		}
	}
	return result, nil
}

func (l *Local) mayRemove(m *loaded, r RemoveRequest) error {
	force := "umbra mission rm " + m.Name + " --force stops it first"
	if p, alive := m.live.process(); alive && !r.Force {
		return Errorf(KindBusy, force, "mission %s has an agent at work (pid %d)", m.Name, p.PID)
	}
	if l.unseen(m) && !r.Force {
		return Errorf(KindBusy, unseenHint(m), "mission %s may have an agent at work: its process can't be seen from here", m.Name)
	}
	if r.Workspace && !m.bind.Made {
		return Errorf(KindConflict, "leave out --workspace", "%s is no workspace that Umbra made: it is never removed", m.bind.Workspace)
	}
	return nil
}

// endForRemoval stops the agent of a mission that is removed by force, and reads
// the mission again.
func (l *Local) endForRemoval(ctx context.Context, m *loaded, r RemoveRequest) (*loaded, error) {
	if !r.Force {
		return m, nil
	}
	if err := l.stop(ctx, m, true); err != nil {
		return m, err
	}
	fresh, err := l.load(m.project, m.ID)
	if err != nil {
		return m, err
	}
	r.Force = false
	return fresh, l.mayRemove(fresh, r) // no other agent has begun meanwhile
}

// lookBeforeRemoving lists what exists nowhere but in what is to be removed.
func (l *Local) lookBeforeRemoving(ctx context.Context, m *loaded, r RemoveRequest, result *RemoveResult) error {
	if !m.bind.Made || m.bind.Fork == nil {
		return nil
	}
	if !r.Workspace {
		result.Kept = append(result.Kept, m.bind.Workspace+" stays (--workspace moves it to the trash)")
		return nil
	}
	if m.workspaceMoved() {
		result.Kept = append(result.Kept, m.movedStays())
		return nil
	}
	others, err := l.othersWithin(m)
	if err != nil {
		return err
	}
	for _, o := range others {
		result.Others = append(result.Others, o.Name)
	}
	newest, err := l.recordedSide(m.project, m.tip)
	if err != nil {
		return err
	}
	holdings, err := fork.Inspect(ctx, *m.bind.Fork, fork.Source{Store: m.project.store, Tree: newest.Tree, Rules: newest.Rules, Skipped: newest.Skipped})
	if err != nil {
		return fmt.Errorf("look at %s: %w", m.bind.Workspace, err)
	}
	result.Ignored = append(result.Ignored, holdings.Ignored...)
	result.Unmerged = append(result.Unmerged, holdings.Commits...)
	result.Uncaught = append(result.Uncaught, holdings.Uncaptured...)
	return nil
}

// othersWithin lists the other missions whose workspace is this one's, or in it.
// It refuses where one of them has an agent at work.
func (l *Local) othersWithin(m *loaded) ([]*loaded, error) {
	all, err := l.overlapping(m)
	if err != nil {
		return nil, err
	}
	var list []*loaded
	for _, o := range all {
		if !within(m.bind.Workspace, o.bind.Workspace) {
			continue
		}
		if _, alive := o.live.process(); alive || HasAgent(o.life) && !l.gone(o) {
			return nil, Errorf(KindBusy, "umbra mission stop "+o.Name, "mission %s has an agent at work in %s", o.Name, o.bind.Workspace)
		}
		list = append(list, o)
	}
	return list, nil
}

// remove moves one mission to the trash: its workspace first, which is snapshot
// once more, then its conversations in Umbra's own store, then its refs.
func (l *Local) remove(ctx context.Context, m *loaded, r RemoveRequest, result *RemoveResult) error {
	if r.Workspace && m.bind.Fork != nil && !m.workspaceMoved() {
		if err := l.trashWorkspace(ctx, m, result); err != nil {
			return err
		}
	}
	err := l.metaLocked(ctx, m, func(m *loaded) error {
		if err := l.trashTalks(m, result); err != nil {
			return err
		}
		return l.trashRefs(ctx, m)
	})
	if err != nil {
		return err
	}
	failpoint.Hit("remove.removed")
	result.Trash = append(result.Trash, string(gitstore.TrashAgentRef(m.ID)))
	return errors.Join(l.journal.DeleteLive(m.ID), l.journal.DropQueue(m.ID))
}

// trashWorkspace keeps what is in the workspace in a last snapshot and moves the
// directory away.
func (l *Local) trashWorkspace(ctx context.Context, m *loaded, result *RemoveResult) error {
	if m.workspaceGone() {
		return l.trashRest(ctx, m, result)
	}
	if _, err := l.submit(ctx, m.project, m.ID, &request{take: &Take{Trigger: TriggerManual, What: "before removal", OnlyIfChanged: true}}); err != nil {
		return err
	}
	trash := l.home.path("trash", m.ID)
	if err := disk.MakeDirs(l.home.Dir, trash); err != nil {
		return err
	}
	var discarded fork.Discarded
	err := l.locked(ctx, m, func(m *loaded) error {
		_, err := l.othersWithin(m) // no agent has begun in it meanwhile
		if err == nil {
			discarded, err = fork.Discard(ctx, *m.bind.Fork, trash)
		}
		return err
	})
	if err != nil {
		return err
	}
	result.discarded(discarded)
	return nil
}

// workspaceMoved reports whether the workspace is there, but is not the directory
// that Umbra made where it made it: the user moved it.
func (m *loaded) workspaceMoved() bool {
	if m.bind.Fork == nil || m.workspaceGone() {
		return false
	}
	place, err := placeOf(m.bind.Fork.Directory)
	return err != nil || place != Place(m.bind.Fork.Identity)
}

// movedStays says of a workspace that was moved how it can be removed.
func (m *loaded) movedStays() string {
	stays := m.bind.Workspace + " stays: it is not where Umbra made it, in " + m.bind.Fork.Directory
	if m.bind.Branch == "" {
		return stays + "; remove it yourself"
	}
	return stays + "; so do its worktree and branch " + m.bind.Branch + ": git -C " + shellQuote(m.bind.Worktree) + " worktree remove --force --force . removes the worktree"
}

// trashRest takes out of the user's repository what a removal that was cut off
// has left there after the workspace itself: its worktree's entry and its branch.
// A workspace that the user moved stays as it is.
func (l *Local) trashRest(ctx context.Context, m *loaded, result *RemoveResult) error {
	if len(l.leftInTrash(m.ID)) == 0 {
		result.Kept = append(result.Kept, m.bind.Workspace+" is not there: wherever it was moved to, it stays")
	}
	trash := l.home.path("trash", m.ID)
	if err := disk.MakeDirs(l.home.Dir, trash); err != nil {
		return err
	}
	rest, err := fork.Discard(ctx, *m.bind.Fork, trash)
	var moved *fork.TargetError
	if err != nil && !errors.As(err, &moved) {
		return err
	}
	if moved != nil {
		result.Kept = append(result.Kept, moved.Error()+": it stays, with its branch")
	}
	result.discarded(rest)
	return nil
}

// discarded says what became of a workspace.
func (r *RemoveResult) discarded(discarded fork.Discarded) {
	for _, where := range []string{discarded.Directory, discarded.Entry} {
		if where != "" {
			r.Trash = append(r.Trash, where)
		}
	}
	for _, branch := range discarded.Kept {
		r.Kept = append(r.Kept, "branch "+branch+" stays: it is in use, or holds commits that are nowhere else")
	}
}

// trashRefs moves the mission's refs. The trash refs come first: whatever is
// cut off in between, every snapshot stays reachable.
func (l *Local) trashRefs(ctx context.Context, m *loaded) error {
	store := m.project.store
	record, err := store.Ref(gitstore.RecordRef(m.ID))
	if err != nil {
		record = m.record
	}
	for _, move := range []struct {
		from, to gitstore.RefName
		id       gitstore.ID
	}{
		{gitstore.RecordRef(m.ID), gitstore.TrashRecordRef(m.ID), record},
		{gitstore.AgentRef(m.ID), gitstore.TrashAgentRef(m.ID), m.tip.ID},
	} {
		// A removal that was cut off has left one there already.
		before, err := store.Ref(move.to)
		if err != nil && !errors.Is(err, gitstore.ErrRefNotFound) {
			return err
		}
		if before == move.id {
			continue
		}
		if err := store.UpdateRef(ctx, move.to, before, move.id, gitstore.Durable); err != nil {
			return err
		}
	}
	failpoint.Hit("remove.kept")
	if err := store.DeleteSymbolic(ctx, gitstore.HeadRef(m.Name), gitstore.AgentRef(m.ID)); err != nil {
		// A removal that was cut off has taken the name away already.
		if _, gone := store.Symbolic(gitstore.HeadRef(m.Name)); !errors.Is(gone, gitstore.ErrRefNotFound) {
			return err
		}
	}
	if err := store.DeleteRef(ctx, gitstore.AgentRef(m.ID), m.tip.ID); err != nil {
		return err
	}
	failpoint.Hit("remove.unpublished")
	return store.DeleteRef(ctx, gitstore.RecordRef(m.ID), record)
}
