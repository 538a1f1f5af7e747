package merges

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/databases"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
)

// wholes knows which files of a merge are of one SQLite database.
type wholes struct{ *plan }

// joinLogs makes the files of a SQLite database one question: SQLite would put a log of one
// side into the database of another, and damage it.
func (w wholes) joinLogs() error {
	for _, q := range w.sorted() {
		name, end := databases.Of(string(q.Path))
		if end == "" || len(q.conflicts) > 0 {
			continue
		}
		if is, err := w.isDatabase(name); err != nil {
			return err
		} else if !is {
			continue
		}
		delete(w.paths, string(q.Path))
		whole := w.paths[name]
		if whole == nil {
			q.Path, w.paths[name] = missions.Path(name), q
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
func (w wholes) isDatabase(path string) (bool, error) {
	trees := w.trees()
	for _, from := range w.sides {
		trees = append(trees, from.base.Tree)
	}
	if _, end := databases.Of(path); end != "" {
		return false, nil // by its name it is a part of another
	}
	files, err := restore.DatabaseFiles(w.store, trees, path)
	return len(files) > 0, err
}

// with is the database in question that a path is a log of, "" if there is none.
func (w wholes) with(path string) string {
	name, end := databases.Of(path)
	if q := w.paths[name]; end == "" || q == nil || !q.isDatabase {
		return ""
	}
	return name
}

// putChosen gives a tree what was chosen for a path, and the logs that go with it if it is a
// database.
func (w wholes) putChosen(tree *records.Tree, q *question, e gitstore.TreeEntry, chosen choice) (err error) {
	isDatabase := q.isDatabase
	if !isDatabase && chosen.isContent() { // nobody has changed its logs, which go all the same
		if isDatabase, err = w.isDatabase(string(q.Path)); err != nil {
			return err
		}
	}
	ends := []string{""}
	if isDatabase && chosen.Take != missions.TakeMerged {
		if err := w.putLogs(tree, string(q.Path), w.git, w.treeOf(chosen.Take)); err != nil {
			return err
		}
		beside := databases.Beside()
		ends = append(ends, beside[:]...)
	}
	for _, end := range ends {
		if err := w.keepPerm(string(q.Path)+end, chosen); err != nil {
			return err
		}
	}
	return put(tree, string(q.Path), e)
}

// keepPerm keeps the permission bits of a path that Git has removed, and that is there all the
// same: those of the side it is taken from. What a user or an agent wrote has those of the
// first side that has a file there, so that nothing private is opened to others.
func (w wholes) keepPerm(path string, chosen choice) error {
	if merged, err := w.entryAt(w.git, path); err != nil || !merged.ID.IsZero() {
		return err
	}
	for i, tree := range w.trees() {
		if !chosen.isContent() && !w.isTakenFrom(i, chosen.Take) {
			continue
		}
		e, err := w.entryAt(tree, path)
		if err != nil {
			return err
		}
		if e.ID.IsZero() || chosen.isContent() && !isRegular(e) {
			continue
		}
		modes := w.were
		if i > 0 {
			if modes, err = recordedModes(w.into.Project, w.sides[i-1]); err != nil {
				return err
			}
		}
		perm := modes.Perm(path, e.Mode)
		if bits, known := perm.Known(); known && perm != w.modes.Perm(path, e.Mode) {
			w.modes.Unusual[path] = bits
		}
		return nil
	}
	return nil
}

// isTakenFrom reports whether a choice takes a path from one of the trees. Two sides may have
// the same tree, and other permission bits.
func (w wholes) isTakenFrom(i int, take missions.MergeTake) bool {
	switch {
	case i == 0:
		return take == missions.TakeOurs
	case take == missions.TakeTheirs:
		return i == 1
	}
	return w.sides[i-1].mission.ID == string(take)
}

// putLogs gives a tree the logs that go with a database of another tree, or none if that is
// zero: its user has written it. merged is the tree as it was.
func (w wholes) putLogs(tree *records.Tree, path string, merged, from gitstore.ID) error {
	for _, end := range databases.Beside() {
		log := path + end
		var e gitstore.TreeEntry
		there, err := w.entryAt(merged, log)
		if err == nil && !from.IsZero() {
			e, err = w.entryAt(from, log)
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
func (w wholes) treeOf(take missions.MergeTake) gitstore.ID {
	if take == missions.TakeOurs {
		return w.ours
	}
	for _, from := range w.sides {
		if take == missions.TakeTheirs || from.mission.ID == string(take) {
			return from.tree
		}
	}
	return gitstore.ID{}
}

// logsAt are what a tree has in the logs of a path that hold anything.
func (w wholes) logsAt(tree gitstore.ID, path string) (list []gitstore.TreeEntry, err error) {
	for _, end := range databases.Logs() {
		e, err := w.entryAt(tree, path+end)
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
func (w wholes) changed(from, to gitstore.ID) (map[string]gitstore.Change, error) {
	list, err := w.changesOf(from, to)
	if err != nil {
		return nil, err
	}
	for path, c := range list {
		name, end := databases.Of(path)
		if end == "" || holdsAnything(end, c.From) || holdsAnything(end, c.To) {
			continue
		}
		is, err := w.isDatabase(name)
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
