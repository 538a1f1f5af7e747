package merges

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/databases"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
)

// wholes are the SQLite databases of a plan, each of which is one question with its logs.
type wholes struct{ *plan }

// joinLogs makes the files of a SQLite database one question: SQLite would put a log of one
// side into the database of another, and damage it.
func (p wholes) joinLogs() error {
	for _, q := range p.sorted() {
		name, end := databases.Of(q.Path)
		if end == "" || len(q.conflicts) > 0 {
			continue
		}
		if is, err := p.isDatabase(name); err != nil {
			return err
		} else if !is {
			continue
		}
		delete(p.paths, q.Path)
		whole := p.paths[name]
		if whole == nil {
			q.Path, p.paths[name] = name, q
			whole = q
		}
		whole.isDatabase = true
		whole.raise(q.Severity, q.Reason)
		for _, mission := range q.Missions {
			if !slices.Contains(whole.Missions, mission) {
				whole.Missions = append(whole.Missions, mission)
			}
		}
	}
	return nil
}

// isDatabase tells whether a side has a database at a path, or had.
func (p wholes) isDatabase(path string) (bool, error) {
	trees := p.trees()
	for _, from := range p.sides {
		trees = append(trees, from.base.Tree)
	}
	if _, end := databases.Of(path); end != "" {
		return false, nil // by its name it is a part of another
	}
	files, err := restore.DatabaseFiles(p.store, trees, path)
	return len(files) > 0, err
}

// databaseWith is the database in question that a path is a log of, "" if there is none.
func (p wholes) databaseWith(path string) string {
	name, end := databases.Of(path)
	if q := p.paths[name]; end == "" || q == nil || !q.isDatabase {
		return ""
	}
	return name
}

// putLogs gives a tree the logs that go with a database of another tree, or none if that is
// zero: its user has written it. merged is the tree as it was.
func (p wholes) putLogs(tree *records.Tree, path string, merged, from gitstore.ID) error {
	for _, end := range databases.Beside() {
		log := path + end
		var e gitstore.TreeEntry
		there, err := p.entryAt(merged, log)
		if err == nil && !from.IsZero() {
			e, err = p.entryAt(from, log)
		}
		if err == nil && !there.Mode.IsDir() && !e.Mode.IsDir() {
			err = put(tree, log, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// treeOf is the tree from which a choice takes a path. It is zero for a content, and for what
// Git merged.
func treeOf(p *plan, take missions.MergeTake) gitstore.ID {
	if take == missions.TakeOurs {
		return p.ours
	}
	for _, from := range p.sides {
		if take == missions.TakeTheirs || from.mission.ID == string(take) {
			return from.tree
		}
	}
	return gitstore.ID{}
}

// logsAt are what a tree has in the logs of a path that hold anything.
func (r contents) logsAt(tree gitstore.ID, path string) (list []gitstore.TreeEntry, err error) {
	for _, end := range databases.Logs() {
		e, err := r.entryAt(tree, path+end)
		if err != nil {
			return nil, err
		}
		if holdsAnything(end, e) {
			list = append(list, e)
		}
	}
	return list, nil
}

// changed are what became of a tree, by path, but for files beside a database with which nobody
// loses anything.
func (p wholes) changed(from, to gitstore.ID) (map[string]gitstore.Change, error) {
	list, err := p.changesOf(from, to)
	if err != nil {
		return nil, err
	}
	for path, c := range list {
		name, end := databases.Of(path)
		if end == "" || holdsAnything(end, c.From) || holdsAnything(end, c.To) {
			continue
		}
		is, err := p.isDatabase(name)
		if err != nil {
			return nil, err
		}
		if is {
			delete(list, path)
		}
	}
	return list, nil
}

// holdsAnything tells whether a file beside a database does: shared memory and empty logs
// don't.
func holdsAnything(end string, e gitstore.TreeEntry) bool {
	return end != databases.Index && !e.ID.IsZero() && e.ID != gitstore.HashObject(gitstore.TypeBlob, nil)
}
