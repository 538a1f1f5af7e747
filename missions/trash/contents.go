package trash

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// removedMission is a mission in the trash, with what was read of it.
type removedMission struct {
	missions.Removed
	mission *projects.Mission // nil where it is Back, or no mission's
	project *projects.Project // nil where it is no mission's
}

// Trash lists what is in the trash, or empties it. It removes directories, never a
// snapshot. The directories of an operation in flight stay, and so does what can't be
// removed; the rest goes. When ctx ends, no other item is begun.
func (b *Bin) Trash(ctx context.Context, r missions.TrashRequest) (missions.TrashResult, error) {
	result := missions.TrashResult{Removed: []missions.Removed{}}
	all, problems, err := b.listTrash()
	if err != nil {
		return result, err
	}
	addresses.NotifyProblems(ctx, problems)
	if all, err = b.selectRemoved(all, problems, r); err != nil {
		return result, err
	}
	goes := NewEmptier(b).expiryTimes(ctx, all)
	for _, m := range all {
		m.GoesAt = goes[m.ID]
		if !r.Before.IsZero() {
			m.Items = slices.DeleteFunc(m.Items, func(i missions.TrashItem) bool { return !i.At.Before(r.Before) })
		}
		if r.Empty {
			if !r.Empties(m.Removed) {
				continue
			}
			var left []missions.LeftInTrash
			m.Items, left = b.emptyTrash(ctx, m)
			result.Left = append(result.Left, left...)
		}
		result.Removed = append(result.Removed, m.Removed)
	}
	result.Bytes = result.Size()
	result.Emptied = r.Empty
	if len(r.Missions) == 0 && ctx.Err() == nil {
		if result.Unfinished = b.Home.CountTaken(); r.Empty && result.Unfinished > 0 {
			NewEmptier(b).finishTaken(&result)
		}
	}
	return result, ctx.Err()
}

// selectRemoved are the removed missions that a request names, each once.
func (b *Bin) selectRemoved(all []removedMission, problems []missions.Problem, r missions.TrashRequest) ([]removedMission, error) {
	if len(r.Missions) == 0 {
		return all, nil
	}
	named := map[string]bool{}
	for _, wanted := range r.Missions {
		m, err := b.pickRemoved(r.Caller, all, problems, wanted)
		if err != nil {
			return nil, err
		}
		named[m.ID] = true
	}
	return slices.DeleteFunc(all, func(m removedMission) bool { return !named[m.ID] }), nil
}

// pickRemoved finds the removed mission that a word means: a name, an id, or the
// beginning of an id. Missions of the caller's project come first. A mission that can't
// be read may have the name too.
func (b *Bin) pickRemoved(c missions.Caller, all []removedMission, problems []missions.Problem, wanted string) (removedMission, error) {
	if at := slices.IndexFunc(all, func(m removedMission) bool { return m.ID == wanted }); at >= 0 {
		return all[at], nil
	}
	at, err := b.addresses.LocateCaller(c)
	if err != nil && at.Dir == "" {
		return removedMission{}, err
	}
	var found, here []removedMission
	for _, m := range all {
		if !m.Called(wanted) {
			continue
		}
		found = append(found, m)
		if m.project != nil && at.Project != nil && m.project.ID == at.Project.ID {
			here = append(here, m)
		}
	}
	byName := slices.ContainsFunc(found, func(m removedMission) bool { return m.Name == wanted })
	switch {
	case len(here) > 0:
		found = here
	case len(problems) > 0 && (byName || len(found) == 0):
		return removedMission{}, missions.Errorf(missions.KindDamaged, cmp.Or(problems[0].Fix, "umbra doctor"), "what %q names in the trash can't be told: %s", wanted, problems[0].Message)
	}
	switch len(found) {
	case 0:
		return removedMission{}, missions.Errorf(missions.KindNotFound, "umbra trash ls", "no mission %q in the trash", wanted)
	case 1:
		return found[0], nil
	}
	return removedMission{}, missions.Errorf(missions.KindAmbiguous, "umbra trash ls has their ids", "%q could be %d removed missions", wanted, len(found))
}

// removedMissions lists the missions in the trash, and the problems with those that
// can't be read.
func (b *Bin) removedMissions() (all []removedMission, projects []*projects.Project, problems []missions.Problem) {
	projects, problems = b.AllProjects()
	for _, p := range projects {
		list, bad := b.RemovedMissionsIn(p)
		problems = append(problems, bad...)
		for _, m := range list {
			all = append(all, removedMission{missions.Removed{ID: m.ID, Name: m.Name, Project: p.Name, Ref: string(gitstore.TrashAgentRef(m.ID))}, m, p})
		}
	}
	return all, projects, problems
}

// listTrash lists removed missions, and what else is in the directories of the trash.
func (b *Bin) listTrash() ([]removedMission, []missions.Problem, error) {
	all, projects, problems := b.removedMissions()
	dirs, err := os.ReadDir(b.Home.Path("trash"))
	if err != nil {
		return nil, nil, missions.Errorf(missions.KindFailed, "", "read the trash: %w", err)
	}
	listed := len(problems) == 0
	for _, dir := range dirs {
		at := slices.IndexFunc(all, func(m removedMission) bool { return m.ID == dir.Name() })
		if at < 0 {
			m, bad := b.unclaimedDirectory(projects, dir.Name())
			problems = append(problems, bad...)
			m.Unknown = !m.Back && (!listed || len(bad) > 0)
			all, at = append(all, m), len(all)
		}
		if all[at].Items, err = listItems(b.Home.Path("trash", dir.Name())); err != nil {
			return nil, nil, err
		}
	}
	return all, problems, nil
}

// unclaimedDirectory describes a directory in the trash that belongs to no removed
// mission: its mission is back, or there is none.
func (b *Bin) unclaimedDirectory(projects []*projects.Project, id string) (removedMission, []missions.Problem) {
	m := removedMission{Removed: missions.Removed{ID: id}}
	if !missions.UUIDPattern().MatchString(id) {
		return m, nil
	}
	var problems []missions.Problem
	for _, p := range projects {
		back, err := b.LoadPublishedMission(p, id)
		if err != nil {
			problems = append(problems, missions.Problem{Invariant: "I3", Project: p.Name, Mission: id, Message: err.Error(), Fix: "umbra doctor"})
		}
		if err == nil && back != nil {
			m.Name, m.Project, m.Back, m.project = back.Name, p.Name, true, p
		}
	}
	return m, problems
}

func listItems(dir string) ([]missions.TrashItem, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, missions.Errorf(missions.KindFailed, "", "read the trash: %w", err)
	}
	var items []missions.TrashItem
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if beside := home.TrashedBeside(path); beside != "" {
			path = beside
		}
		item, err := measureItem(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone meanwhile
		}
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// measureItem measures one item of the trash. The error is fs.ErrNotExist if it is not
// there.
func measureItem(path string) (missions.TrashItem, error) {
	item := missions.TrashItem{Path: path}
	info, err := os.Lstat(path)
	if err != nil {
		return item, missions.Errorf(missions.KindFailed, "", "read the trash: %w", err)
	}
	item.At = time.Unix(0, home.ChangeTime(info))
	var measured home.DiskMeter
	if err := filepath.WalkDir(path, measured.AddEntry); err != nil {
		return item, missions.Errorf(missions.KindFailed, "", "measure %s: %w", path, err)
	}
	item.Bytes, item.Incomplete = measured.Bytes, measured.Unreadable > 0
	return item, nil
}

// emptyTrash removes a mission's items. Git's entries of worktrees come last, and stay if any
// item could not be removed: a workspace that comes back is no worktree without its entry. It
// returns the removed items, and those that are left.
func (b *Bin) emptyTrash(ctx context.Context, m removedMission) (gone []missions.TrashItem, left []missions.LeftInTrash) {
	busy := b.hasUnfinishedOperation(m.ID)
	var items, entries []missions.TrashItem
	for _, item := range m.Items {
		if fork.IsEntry(item.Path) {
			entries = append(entries, item)
		} else {
			items = append(items, item)
		}
	}
	for _, item := range slices.Concat(items, entries) {
		still := missions.LeftInTrash{Path: item.Path, Why: "an operation that may need it is not finished", Fix: "umbra status"}
		away := home.TrashedAway(item.Path)
		switch {
		case ctx.Err() != nil:
			still.Why, still.Fix = "interrupted", ""
		case away != "":
			still.Why = "the directory that it names is missing, and its disk is not mounted: " + away
			still.Fix = "mount that disk, then try again, or rm " + home.ShellQuote(item.Path) + " if it is gone for good"
		case !busy && len(left) > 0 && fork.IsEntry(item.Path):
			still.Why, still.Fix = "Git needs it for a workspace that is still in the trash", ""
		case !busy:
			err := home.RemoveTree(item.Path)
			if err == nil {
				err = fork.TakeLinks(b.Home.Path("trash", m.ID), item.Path)
			}
			if err == nil {
				gone = append(gone, item)
				continue
			}
			still.Why, still.Fix = err.Error(), missions.AsError(err).Hint
			if errors.Is(err, fs.ErrPermission) {
				still.Fix = "remove it as root: it holds files of another user"
			}
		}
		left = append(left, still)
	}
	if len(left) == 0 {
		_ = os.Remove(b.Home.Path("trash", m.ID)) // stays if something came meanwhile
	}
	return gone, left
}

// hasUnfinishedOperation reports whether an operation on a mission has not ended: it
// may need what it moved into the trash. An operation that can't be read may be of any
// mission.
func (b *Bin) hasUnfinishedOperation(mission string) bool {
	list, damaged, err := b.Journal.List()
	if err != nil || len(damaged) > 0 {
		return true
	}
	return slices.ContainsFunc(list, func(op *journal.Operation) bool {
		var doc struct {
			Mission string `json:"mission"`
		}
		phase, _ := op.Phase()
		return phase != journal.Done && (op.Document(&doc) != nil || doc.Mission == mission || doc.Mission == "")
	})
}
