package missions

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
)

// TrashRequest asks what is in the trash, or empties it.
type TrashRequest struct {
	Caller Caller `json:"caller"`
	// Missions narrows it to some, by name or id; none is all of them.
	Missions []string `json:"missions,omitempty"`
	// Before leaves out what came there since then; zero is nothing.
	Before time.Time `json:"before,omitzero"`
	Empty  bool      `json:"empty,omitempty"` // removes for good what would be listed
}

// TrashResult is what is, or was, in the trash.
type TrashResult struct {
	Removed []Removed `json:"removed"`
	Bytes   int64     `json:"bytes"`
	Emptied bool      `json:"emptied"`
	// Left is what was to be removed and is there still.
	Left []LeftInTrash `json:"left,omitempty"`
}

// LeftInTrash is an item that could not be removed, or only in part.
type LeftInTrash struct {
	Path string `json:"path"`
	Why  string `json:"why"`
	Fix  string `json:"fix,omitempty"`
}

// Removed is a mission that umbra mission rm took away, or the rest of one that
// could not be made. Its snapshots are kept, whatever becomes of the trash.
type Removed struct {
	ID      string      `json:"id"`
	Name    string      `json:"name,omitempty"`
	Project string      `json:"project,omitempty"`
	Ref     string      `json:"ref,omitempty"` // leads to its snapshots
	Items   []TrashItem `json:"items"`         // what emptying the trash removes
	// Back marks what stayed in the trash of a mission that is none of it any more,
	// such as its ignored files.
	Back bool `json:"back,omitempty"`
	// Unknown marks what may be a removed mission's: not all of them can be read.
	Unknown bool `json:"unknown,omitempty"`
}

// removedMission is Removed with what it was read from.
type removedMission struct {
	Removed
	mission *loaded  // nil where it is Back, or no mission's
	project *project // nil where it is no mission's
}

// TrashItem is a file or directory in the trash: a workspace with what was in no
// snapshot, its entry of the user's repository, or a copy of a conversation.
type TrashItem struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	// Incomplete: Bytes lacks what may not be read, such as another user's directory.
	Incomplete bool      `json:"incomplete,omitempty"`
	At         time.Time `json:"at"` // its ctime: when it was moved there, or changed there since
}

// Some reports whether there is anything to remove, which may take no room at all.
func (r TrashResult) Some() bool {
	return slices.ContainsFunc(r.Removed, func(m Removed) bool { return len(m.Items) > 0 })
}

// Size is what all items take, in bytes.
func (r TrashResult) Size() (bytes int64) {
	for _, m := range r.Removed {
		for _, item := range m.Items {
			bytes += item.Bytes
		}
	}
	return bytes
}

// Empties reports whether emptying the trash as asked removes what is m's: what may
// be anybody's, or a mission's that is back, only where it is named.
func (r TrashRequest) Empties(m Removed) bool {
	return !m.Unknown && !m.Back || slices.ContainsFunc(r.Missions, m.Called)
}

// Trash lists what is in the trash, or empties it: the directories there, never a
// snapshot. What an operation in flight has moved there stays, and so does what can't be
// removed: neither keeps the rest. Where the context ends, no other item is begun.
func (l *Local) Trash(ctx context.Context, r TrashRequest) (TrashResult, error) {
	result := TrashResult{Removed: []Removed{}}
	all, problems, err := l.trash()
	if err != nil {
		return result, err
	}
	notifyProblems(ctx, problems)
	if all, err = l.narrowed(all, problems, r); err != nil {
		return result, err
	}
	for _, m := range all {
		if !r.Before.IsZero() {
			m.Items = slices.DeleteFunc(m.Items, func(i TrashItem) bool { return !i.At.Before(r.Before) })
		}
		if r.Empty {
			if !r.Empties(m.Removed) {
				continue
			}
			var left []LeftInTrash
			m.Items, left = l.emptyTrash(ctx, m)
			result.Left = append(result.Left, left...)
		}
		result.Removed = append(result.Removed, m.Removed)
	}
	result.Bytes = result.Size()
	result.Emptied = r.Empty
	return result, ctx.Err()
}

// narrowed are those that a request names, each once.
func (l *Local) narrowed(all []removedMission, problems []Problem, r TrashRequest) ([]removedMission, error) {
	if len(r.Missions) == 0 {
		return all, nil
	}
	named := map[string]bool{}
	for _, wanted := range r.Missions {
		m, err := l.pickRemoved(r.Caller, all, problems, wanted)
		if err != nil {
			return nil, err
		}
		named[m.ID] = true
	}
	return slices.DeleteFunc(all, func(m removedMission) bool { return !named[m.ID] }), nil
}

// Called reports whether a word means the mission: its name, its id or the beginning
// of that.
func (m Removed) Called(wanted string) bool {
	return wanted != "" && m.Name == wanted || m.ID == wanted || len(wanted) >= 4 && strings.HasPrefix(m.ID, wanted)
}

// pickRemoved finds the one that a word means, a name, an id or the beginning of
// that: in the caller's project first. What can't be read may have the name too.
func (l *Local) pickRemoved(c Caller, all []removedMission, problems []Problem, wanted string) (removedMission, error) {
	if at := slices.IndexFunc(all, func(m removedMission) bool { return m.ID == wanted }); at >= 0 {
		return all[at], nil
	}
	at, err := l.stand(c)
	if err != nil && at.Dir == "" {
		return removedMission{}, err
	}
	var found, here []removedMission
	for _, m := range all {
		if !m.Called(wanted) {
			continue
		}
		found = append(found, m)
		if m.project != nil && at.project != nil && m.project.ID == at.project.ID {
			here = append(here, m)
		}
	}
	byName := slices.ContainsFunc(found, func(m removedMission) bool { return m.Name == wanted })
	switch {
	case len(here) > 0:
		found = here
	case len(problems) > 0 && (byName || len(found) == 0):
		return removedMission{}, Errorf(KindDamaged, cmp.Or(problems[0].Fix, "umbra doctor"), "what %q names in the trash can't be told: %s", wanted, problems[0].Message)
	}
	switch len(found) {
	case 0:
		return removedMission{}, Errorf(KindNotFound, "umbra trash ls", "no mission %q in the trash", wanted)
	case 1:
		return found[0], nil
	}
	return removedMission{}, Errorf(KindAmbiguous, "umbra trash ls has their ids", "%q could be %d removed missions", wanted, len(found))
}

// removed lists the missions in the trash, and what could not be read of them.
func (l *Local) removed() (all []removedMission, projects []*project, problems []Problem) {
	projects, problems = l.allProjects()
	for _, p := range projects {
		list, bad := l.removedFrom(p)
		problems = append(problems, bad...)
		for _, m := range list {
			all = append(all, removedMission{Removed{ID: m.ID, Name: m.Name, Project: p.Name, Ref: string(gitstore.TrashAgentRef(m.ID))}, m, p})
		}
	}
	return all, projects, problems
}

// trash lists removed missions, and what else is in the trash's directories.
func (l *Local) trash() ([]removedMission, []Problem, error) {
	all, projects, problems := l.removed()
	dirs, err := os.ReadDir(l.home.path("trash"))
	if err != nil {
		return nil, nil, Errorf(KindFailed, "", "read the trash: %w", err)
	}
	listed := len(problems) == 0
	for _, dir := range dirs {
		at := slices.IndexFunc(all, func(m removedMission) bool { return m.ID == dir.Name() })
		if at < 0 {
			m, bad := l.unclaimed(projects, dir.Name())
			problems = append(problems, bad...)
			m.Unknown = !m.Back && (!listed || len(bad) > 0)
			all, at = append(all, m), len(all)
		}
		if all[at].Items, err = trashItems(l.home.path("trash", dir.Name())); err != nil {
			return nil, nil, err
		}
	}
	return all, problems, nil
}

// unclaimed is what a directory in the trash is that no removed mission has: of one
// that is back, or of none.
func (l *Local) unclaimed(projects []*project, id string) (removedMission, []Problem) {
	m := removedMission{Removed: Removed{ID: id}}
	if !uuidForm().MatchString(id) {
		return m, nil
	}
	var problems []Problem
	for _, p := range projects {
		back, err := l.loadPublished(p, id)
		if err != nil {
			problems = append(problems, Problem{Invariant: "I3", Project: p.Name, Mission: id, Message: err.Error(), Fix: "umbra doctor"})
		}
		if err == nil && back != nil {
			m.Name, m.Project, m.Back, m.project = back.Name, p.Name, true, p
		}
	}
	return m, problems
}

func trashItems(dir string) ([]TrashItem, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, Errorf(KindFailed, "", "read the trash: %w", err)
	}
	var items []TrashItem
	for _, e := range entries {
		item, err := trashItem(filepath.Join(dir, e.Name()))
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

// trashItem measures one. One that is not there is fs.ErrNotExist.
func trashItem(path string) (TrashItem, error) {
	item := TrashItem{Path: path}
	info, err := os.Lstat(path)
	if err != nil {
		return item, Errorf(KindFailed, "", "read the trash: %w", err)
	}
	item.At = time.Unix(0, changeTime(info))
	var measured measuring
	if err := filepath.WalkDir(path, measured.entry); err != nil {
		return item, Errorf(KindFailed, "", "measure %s: %w", path, err)
	}
	item.Bytes, item.Incomplete = measured.bytes, measured.refused > 0
	return item, nil
}

// emptyTrash removes a mission's items, and returns those that are gone and those
// that are not.
func (l *Local) emptyTrash(ctx context.Context, m removedMission) (gone []TrashItem, left []LeftInTrash) {
	busy := l.atWork(m.ID)
	for _, item := range m.Items {
		still := LeftInTrash{Path: item.Path, Why: "an operation that may need it is not finished", Fix: "umbra status"}
		switch {
		case ctx.Err() != nil:
			still.Why, still.Fix = "interrupted", ""
		case !busy:
			err := removeTree(item.Path)
			if err == nil {
				gone = append(gone, item)
				continue
			}
			still.Why, still.Fix = err.Error(), AsError(err).Hint
			if errors.Is(err, fs.ErrPermission) {
				still.Fix = "remove it as root: there are another user's files in it"
			}
		}
		left = append(left, still)
	}
	if len(left) == 0 {
		_ = os.Remove(l.home.path("trash", m.ID)) // stays if something came meanwhile
	}
	return gone, left
}

// atWork reports whether an operation on a mission is not finished: what it moved
// into the trash it may need. One that can't be read may be of any mission.
func (l *Local) atWork(mission string) bool {
	list, damaged, err := l.journal.List()
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
