package missions

import (
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
}

// Removed is a mission that umbra mission rm took away, or the rest of one that
// could not be made. Its snapshots are kept, whatever becomes of the trash.
type Removed struct {
	ID      string      `json:"id"`
	Name    string      `json:"name,omitempty"`
	Project string      `json:"project,omitempty"`
	Ref     string      `json:"ref,omitempty"` // leads to its snapshots
	Items   []TrashItem `json:"items"`         // what emptying the trash removes
}

// TrashItem is a file or directory in the trash: a workspace with what was in no
// snapshot, or its entry of the user's repository.
type TrashItem struct {
	Path  string    `json:"path"`
	Bytes int64     `json:"bytes"`
	At    time.Time `json:"at"` // its ctime: when it was moved there, or changed there since
}

// Trash lists what is in the trash, or empties it: the directories there, never a
// snapshot. What an operation in flight has moved there stays.
func (l *Local) Trash(ctx context.Context, r TrashRequest) (TrashResult, error) {
	result := TrashResult{Removed: []Removed{}}
	all, err := l.trash()
	if err != nil {
		return result, err
	}
	for _, wanted := range r.Missions {
		if !slices.ContainsFunc(all, func(m Removed) bool { return m.is(wanted) }) {
			return result, Errorf(KindNotFound, "umbra trash ls", "no mission %q in the trash", wanted)
		}
	}
	for _, m := range all {
		if len(r.Missions) > 0 && !slices.ContainsFunc(r.Missions, m.is) {
			continue
		}
		if !r.Before.IsZero() {
			m.Items = slices.DeleteFunc(m.Items, func(i TrashItem) bool { return !i.At.Before(r.Before) })
		}
		if r.Empty {
			if m, err = l.emptyTrash(m); err != nil {
				return result, err
			}
		}
		for _, item := range m.Items {
			result.Bytes += item.Bytes
		}
		result.Removed = append(result.Removed, m)
	}
	result.Emptied = r.Empty
	return result, ctx.Err()
}

func (m Removed) is(wanted string) bool {
	return m.Name == wanted || m.ID == wanted || len(wanted) >= 4 && strings.HasPrefix(m.ID, wanted)
}

// trash lists removed missions, and what else is in the trash's directories.
func (l *Local) trash() ([]Removed, error) {
	var all []Removed
	projects, _ := l.allProjects()
	for _, p := range projects {
		list, err := l.removedFrom(p)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			all = append(all, Removed{ID: m.ID, Name: m.Name, Project: p.Name, Ref: string(gitstore.TrashAgentRef(m.ID))})
		}
	}
	dirs, err := os.ReadDir(l.home.path("trash"))
	if err != nil {
		return nil, Errorf(KindFailed, "", "read the trash: %w", err)
	}
	for _, dir := range dirs {
		at := slices.IndexFunc(all, func(m Removed) bool { return m.ID == dir.Name() })
		if at < 0 {
			all, at = append(all, Removed{ID: dir.Name()}), len(all)
		}
		if all[at].Items, err = trashItems(l.home.path("trash", dir.Name())); err != nil {
			return nil, err
		}
	}
	return all, nil
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
		info, err := e.Info()
		if err != nil {
			continue // gone meanwhile
		}
		item := TrashItem{Path: filepath.Join(dir, e.Name()), At: time.Unix(0, changeTime(info))}
		if item.Bytes, err = diskUsage(item.Path); err != nil {
			return nil, Errorf(KindFailed, "", "measure %s: %w", item.Path, err)
		}
		items = append(items, item)
	}
	return items, nil
}

// emptyTrash removes a mission's items, and returns what it was.
func (l *Local) emptyTrash(m Removed) (Removed, error) {
	was := m
	was.Items = nil
	if l.atWork(m.ID) {
		return was, nil
	}
	for _, item := range m.Items {
		if err := removeTree(item.Path); err != nil {
			return was, err
		}
		was.Items = append(was.Items, item)
	}
	_ = os.Remove(l.home.path("trash", m.ID)) // stays if something came meanwhile
	return was, nil
}

// atWork reports whether an operation on a mission is not finished: what it moved
// into the trash it may need.
func (l *Local) atWork(mission string) bool {
	list, _, err := l.journal.List()
	if err != nil {
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
