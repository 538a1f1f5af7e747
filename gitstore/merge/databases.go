package merge

import (
	"errors"
	"maps"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/databases"
	"github.com/umbra-vcs/umbra/gitstore/records"
)

// database is a SQLite database of which each side has changed a file. git is not given it: it
// merges file by file, and follows renames, and a database beside a log of another side is
// damaged.
type database struct {
	Conflict
	files []string // that a side has, the database first
	// side has the files that it becomes. It is zero where the sides have changed it alike,
	// and where they have not, which is a conflict.
	side gitstore.ID
	open bool
	// clashes says that a side has a directory where another one has a file. git is given such a
	// database, and says what conflicts.
	clashes bool
}

// withoutDatabases takes the databases that each side has changed out of all sides.
func (m *merger) withoutDatabases() (list []database, err error) {
	if list, err = m.databases(); err != nil || len(list) == 0 {
		return nil, err
	}
	var paths []string
	for _, d := range list {
		if !d.clashes {
			paths = append(paths, d.files...)
		}
	}
	batch := m.store.NewBatch()
	defer batch.Discard()
	for _, side := range []*gitstore.ID{&m.sides.Base, &m.sides.Ours, &m.sides.Theirs} {
		tree := records.NewTree(m.store, *side)
		for _, path := range paths {
			if err := tree.Remove(path); err != nil {
				return nil, err
			}
		}
		if *side, err = tree.Write(batch); err != nil {
			return nil, err
		}
	}
	return list, batch.Flush(m.ctx)
}

// withDatabases gives what git merged each database as one side has it: as the preferred one
// where the sides conflict. Of one that clashes the logs stay where the database does.
func (m *merger) withDatabases(merged, preferred gitstore.ID, list []database) (gitstore.ID, error) {
	if len(list) == 0 {
		return merged, nil
	}
	w := m.newTree(merged)
	defer w.batch.Discard()
	for _, d := range list {
		side, err := m.sideOf(d, merged, preferred)
		if err != nil {
			return merged, err
		}
		if side.IsZero() {
			continue
		}
		for _, path := range d.files {
			e, err := m.entryAt(side, path)
			if err != nil {
				return merged, err
			}
			w.put(path, e)
		}
	}
	return w.write()
}

// sideOf is the side that has the files that a database becomes. It is zero where git has merged
// a database that clashes, and not taken what is preferred.
func (m *merger) sideOf(d database, merged, preferred gitstore.ID) (gitstore.ID, error) {
	switch {
	case !d.side.IsZero():
		return d.side, nil
	case !d.clashes:
		return preferred, nil
	}
	now, err := m.entryAt(merged, d.Path)
	if err != nil {
		return gitstore.ID{}, err
	}
	if e, err := m.entryAt(preferred, d.Path); err != nil || e != now || !isRegular(now) {
		return gitstore.ID{}, err
	}
	return preferred, nil
}

// databases are those of which each side has changed a file.
func (m *merger) databases() (list []database, err error) {
	ours, err := m.changesTo(m.sides.Ours)
	if err != nil {
		return nil, err
	}
	theirs, err := m.changesTo(m.sides.Theirs)
	if err != nil {
		return nil, err
	}
	mine, names := map[string]bool{}, map[string]bool{}
	for path := range ours {
		name, _ := databases.Of(path)
		mine[name] = true
	}
	for path := range theirs {
		if name, _ := databases.Of(path); mine[name] {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		is, err := m.isDatabase(name)
		if err != nil {
			return nil, err
		}
		if !is {
			continue
		}
		d, err := m.databaseAt(name)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// databaseAt compares the files of a database.
func (m *merger) databaseAt(name string) (d database, err error) {
	d = database{Conflict: Conflict{Path: name, Database: true}}
	if d.clashes, err = m.isBelowFile(name); err != nil {
		return d, err
	}
	alike, mine, their := true, false, false
	beside := databases.Beside()
	for _, end := range append([]string{""}, beside[:]...) {
		path := name + end
		base, ours, theirs, err := m.entriesAt(path)
		switch {
		case err != nil:
			return d, err
		case base.Mode.IsDir(), ours.Mode.IsDir(), theirs.Mode.IsDir():
			d.clashes = d.clashes || end == ""
			continue
		case end == "":
			d.Base, d.Ours, d.Theirs = base, ours, theirs
		case base.ID.IsZero() && ours.ID.IsZero() && theirs.ID.IsZero():
			continue
		}
		d.files = append(d.files, path)
		if base, ours, theirs = holding(end, base), holding(end, ours), holding(end, theirs); ours != theirs {
			alike = false
		}
		mine, their = mine || ours != base, their || theirs != base
	}
	switch {
	case alike, d.clashes:
	case !their:
		d.side = m.sides.Ours
	case !mine:
		d.side = m.sides.Theirs
	default:
		d.open = true
	}
	return d, nil
}

// holding is what a side has in a file of a database, nothing for one with which nobody loses
// anything: shared memory, or an empty log.
func holding(end string, e gitstore.TreeEntry) gitstore.TreeEntry {
	if end == databases.Index || end != "" && e.ID == gitstore.HashObject(gitstore.TypeBlob, nil) {
		return gitstore.TreeEntry{}
	}
	return e
}

// isDatabase tells whether a side has a database at a path.
func (m *merger) isDatabase(path string) (bool, error) {
	if _, end := databases.Of(path); end != "" {
		return false, nil // by its name it is a part of another
	}
	base, ours, theirs, err := m.entriesAt(path)
	if err != nil {
		return false, err
	}
	for _, e := range []gitstore.TreeEntry{base, ours, theirs} {
		if !isRegular(e) {
			continue
		}
		content, size, err := m.store.BlobReader(e.ID)
		if err != nil {
			return false, err
		}
		is, err := databases.Is(content, size)
		if err := errors.Join(err, content.Close()); is || err != nil {
			return is, err
		}
	}
	return false, nil
}

// isBelowFile tells whether a side has a file in the place of a directory above a path.
func (m *merger) isBelowFile(path string) (is bool, err error) {
	eachDirAbove(path, func(dir string) {
		base, ours, theirs, failed := m.entriesAt(dir)
		err = errors.Join(err, failed)
		for _, e := range []gitstore.TreeEntry{base, ours, theirs} {
			is = is || !e.ID.IsZero() && !e.Mode.IsDir()
		}
	})
	return is, err
}

// entriesAt are what the sides have at a path.
func (m *merger) entriesAt(path string) (base, ours, theirs gitstore.TreeEntry, err error) {
	if base, err = m.entryAt(m.sides.Base, path); err == nil {
		ours, err = m.entryAt(m.sides.Ours, path)
	}
	if err == nil {
		theirs, err = m.entryAt(m.sides.Theirs, path)
	}
	return base, ours, theirs, err
}

func (m *merger) entryAt(tree gitstore.ID, path string) (gitstore.TreeEntry, error) {
	e, err := m.store.Lookup(tree, path)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return gitstore.TreeEntry{}, nil
	}
	return e, err
}
