package trash

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// removeScratch removes a fork for good that a search has made, with what its check has written
// there. It goes to the trash where it has a snapshot that is nowhere else, or where something of
// it can't be removed. One in which somebody has launched an agent since stays. left says that
// the search was killed: then somebody may have worked there since, and a last snapshot is taken.
func (b *Bin) removeScratch(ctx context.Context, m *projects.Mission, left bool) error {
	if !isScratch(m) {
		return missions.Errorf(missions.KindConflict, "umbra mission rm --workspace "+m.Name, "%s is more than a workspace of a search by now", m.Name)
	}
	if left && !m.IsWorkspaceGone() {
		take := missions.TakeSnapshot{Trigger: missions.TriggerWatch, Lifecycle: m.Lifecycle, Message: "left by a search that was killed", OnlyIfChanged: true}
		_, err := b.snapshots.SubmitRequest(ctx, m.Project, m.ID, &snapshots.Request{Take: &take})
		if err == nil {
			m, err = b.LoadMission(m.Project, m.ID)
		}
		if err != nil {
			return err
		}
	}
	own, err := b.hasOwnSnapshot(m)
	if err != nil {
		return err
	}
	var result missions.RemoveResult
	if err := b.removeMission(ctx, m, missions.RemoveRequest{Workspace: true, Scratch: !own}, 0, &result); err != nil || own {
		return err
	}
	removed, err := b.LoadRemovedMission(m.Project, m.ID)
	if err != nil {
		return err
	}
	return b.purgeScratch(ctx, removed)
}

// isScratch reports whether a mission is a search's fork, and nobody has made more of it.
func isScratch(m *projects.Mission) bool {
	_, begins := m.Lifecycle.(missions.Initializing)
	_, alive := m.Live.LivingProcess()
	return missions.UUIDPattern().MatchString(m.Scratch) && m.Binding.MadeByUmbra && m.Stored.Session == "" && begins && !alive
}

// hasOwnSnapshot reports whether a search's fork has a snapshot that the mission which the search
// is for has not. That one is there, or in the trash; else all count as the fork's own.
func (b *Bin) hasOwnSnapshot(m *projects.Mission) (bool, error) {
	for _, name := range []gitstore.RefName{gitstore.AgentRef(m.Scratch), gitstore.TrashAgentRef(m.Scratch)} {
		tip, err := m.Project.Store.Ref(name)
		if errors.Is(err, gitstore.ErrRefNotFound) {
			continue
		}
		if err != nil {
			return true, err
		}
		has, err := m.Project.Store.IsAncestor(m.Tip.ID, tip)
		if has || err != nil {
			return false, err
		}
	}
	return true, nil
}

// purgeScratch removes a search's fork from the trash for good, refs too, unless it has a
// snapshot of its own there. Its refs go last: what is cut off before is in the trash.
func (b *Bin) purgeScratch(ctx context.Context, m *projects.Mission) error {
	held, err := lock.Wait(ctx, returnsLockFile(b.Home), lock.Exclusive, b.Self)
	if err != nil {
		return home.LockError(err)
	}
	defer func() { _ = held.Release() }()
	if own, err := b.hasOwnSnapshot(m); own || err != nil {
		return err
	}
	removed := removedMission{Removed: missions.Removed{ID: m.ID, Name: m.Name}, mission: m, project: m.Project}
	if removed.Items, err = listItems(b.Home.Path("trash", m.ID)); err != nil {
		return err
	}
	if _, left := b.emptyTrash(ctx, removed); len(left) > 0 {
		return missions.Errorf(missions.KindConflict, left[0].Fix, "%s stays in the trash: %s", left[0].Path, left[0].Why)
	}
	if err := m.Project.Store.DeleteRef(ctx, gitstore.TrashAgentRef(m.ID), m.Tip.ID); err != nil {
		return err
	}
	kept, err := m.Project.Store.Ref(gitstore.TrashRecordRef(m.ID))
	if err == nil {
		err = m.Project.Store.DeleteRef(ctx, gitstore.TrashRecordRef(m.ID), kept)
	}
	if errors.Is(err, gitstore.ErrRefNotFound) {
		err = nil
	}
	b.removeForksDirectory(m)
	return err
}

// removeForksDirectory removes the directory that Umbra makes for the forks of a project, if none
// is there any more: the fork for which it was made may have gone before this one.
func (b *Bin) removeForksDirectory(m *projects.Mission) {
	if m.Binding.Fork == nil {
		return
	}
	if dir := filepath.Dir(m.Binding.Fork.Directory); filepath.Base(dir) == filepath.Base(m.Project.Dir) {
		_ = os.Remove(dir) // stays if something is in it
	}
}

// LeftScratch is a fork that a search has made and could not remove, since it was killed.
type LeftScratch struct {
	Mission *projects.Mission
	Removed bool // is in the trash
}

// LeftScratches are those of all projects. Where a search runs, none of its forks is one; nor is
// a fork that has a snapshot of its own: that may be somebody's work.
func (b *Bin) LeftScratches() (list []LeftScratch) {
	add := func(m *projects.Mission, removed bool) {
		if own, err := b.hasOwnSnapshot(m); !own && err == nil {
			list = append(list, LeftScratch{m, removed})
		}
	}
	all, _ := b.AllProjects() // doctor says what is wrong
	for _, p := range all {
		there, _ := b.ProjectMissions(p)
		for _, m := range there {
			if isScratch(m) {
				add(m, false)
			}
		}
		removed, _ := b.RemovedMissionsIn(p)
		for _, m := range removed {
			if m.Scratch != "" {
				add(m, true)
			}
		}
	}
	// Asked last: a search that begins now has made none of these.
	return slices.DeleteFunc(list, func(s LeftScratch) bool { return b.isSearching(s.Mission.Scratch) })
}

// RemoveLeftScratch removes such a fork for good, or to the trash where its files have changed.
func (b *Bin) RemoveLeftScratch(ctx context.Context, s LeftScratch) error {
	if s.Removed {
		return b.purgeScratch(ctx, s.Mission)
	}
	return b.removeScratch(ctx, s.Mission, true)
}

// isSearching reports whether a search for a mission runs, or may.
func (b *Bin) isSearching(mission string) bool {
	held, err := flock.Hold(b.Home.BisectFile(mission), os.O_RDONLY, unix.LOCK_SH)
	if err == nil {
		_ = flock.Release(held)
	}
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}
