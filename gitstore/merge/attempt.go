package merge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// Conflict is a path that git can't merge, with what each side has there. The zero entry
// is nothing. Where one side renamed the file, each side's content is at the new path.
type Conflict struct {
	Path               string
	Base, Ours, Theirs gitstore.TreeEntry
	// Database says that it is a SQLite database. Its logs become what it becomes: each side has
	// changed a file of it.
	Database bool
}

// Attempted is a merge that leaves open what git can't merge.
type Attempted struct {
	Tree      gitstore.ID // has the paths that conflict as ours has them
	Conflicts []Conflict  // by path
}

// Attempt merges as git does, renames included, and lists what is left to choose. All
// that it names is durable in the store when it returns. Where a side has written a file with
// other line ends, all have the same in a conflict. Its errors are those of Trees, and a
// *git.Error where the driver fails.
func Attempt(ctx context.Context, s *shadow.Store, sides Sides, driver Driver) (Attempted, error) {
	switch {
	case sides.Theirs == sides.Base || sides.Ours == sides.Theirs:
		return Attempted{Tree: sides.Ours}, nil
	case sides.Ours == sides.Base:
		return Attempted{Tree: sides.Theirs}, nil
	}
	scratch, done, err := openScratch(s)
	if err != nil {
		return Attempted{}, fmt.Errorf("merge: %w", err)
	}
	defer done()
	m := merger{ctx: ctx, store: s, scratch: scratch, sides: sides, driver: driver}
	list, err := m.withoutDatabases()
	if err != nil {
		return Attempted{}, err
	}
	if err := m.alignLineEnds(); err != nil {
		return Attempted{}, err
	}
	a, err := m.attempt()
	if err != nil {
		return Attempted{}, err
	}
	for _, d := range list {
		if d.open {
			a.Conflicts = append(a.Conflicts, d.Conflict)
		}
		for i := range a.Conflicts {
			a.Conflicts[i].Database = a.Conflicts[i].Database || a.Conflicts[i].Path == d.Path
		}
	}
	slices.SortFunc(a.Conflicts, func(a, b Conflict) int { return strings.Compare(a.Path, b.Path) })
	a.Tree, err = m.withDatabases(a.Tree, sides.Ours, list)
	return a, err
}

// attempt merges all that git is given.
func (m *merger) attempt() (Attempted, error) {
	merged, conflicts, err := m.mergeTrees(m.sides)
	if err != nil {
		return Attempted{}, err
	}
	if len(conflicts) == 0 {
		tree, err := m.storeMerged(merged)
		return Attempted{Tree: tree}, err
	}
	known, err := m.areKnown(conflicts)
	if err != nil {
		return Attempted{}, err
	}
	if !known {
		return m.attemptPaths()
	}
	tree, err := m.storeUnlessOpen(merged, conflicts)
	return Attempted{Tree: tree, Conflicts: conflicts}, err
}

// storeUnlessOpen stores what git merged, and ours where git could not.
func (m *merger) storeUnlessOpen(merged gitstore.ID, conflicts []Conflict) (gitstore.ID, error) {
	w := m.newTree(m.sides.Ours)
	defer w.batch.Discard()
	if err := m.scratch.DiffTrees(m.sides.Ours, merged, func(c gitstore.Change) error {
		w.put(c.Path, c.To)
		return m.ctx.Err()
	}); err != nil {
		return gitstore.ID{}, err
	}
	for _, c := range conflicts {
		delete(w.changed, c.Path)
	}
	return w.write()
}

// areKnown reports whether each path that conflicts is one of a side's, with what sides have.
// Where a file and a directory want the same place, git gives the file a name of its own; and
// where each side renamed a file, it merges both contents first, with marks of conflicts.
func (m *merger) areKnown(conflicts []Conflict) (bool, error) {
	contents := map[gitstore.ID]bool{{}: true}
	for _, tree := range []gitstore.ID{m.sides.Ours, m.sides.Theirs} {
		changed, err := m.changesTo(tree)
		if err != nil {
			return false, err
		}
		for _, c := range changed {
			contents[c.From.ID], contents[c.To.ID] = true, true
		}
	}
	for _, c := range conflicts {
		if !contents[c.Base.ID] || !contents[c.Ours.ID] || !contents[c.Theirs.ID] {
			return false, nil
		}
		found := false
		for _, tree := range []gitstore.ID{m.sides.Base, m.sides.Ours, m.sides.Theirs} {
			e, err := m.store.Lookup(tree, c.Path)
			if err != nil && !errors.Is(err, gitstore.ErrNoEntry) {
				return false, err
			}
			found = found || err == nil && !e.Mode.IsDir()
		}
		if !found {
			return false, nil
		}
	}
	return true, nil
}

// attemptPaths merges path by path, without looking for renames.
func (m *merger) attemptPaths() (a Attempted, err error) {
	r, err := m.mergePaths(true)
	if err != nil {
		return a, err
	}
	a.Tree = r.Tree
	for _, path := range r.Conflicts {
		c := Conflict{Path: path}
		if c.Base, c.Ours, c.Theirs, err = m.entriesAt(path); err != nil {
			return a, err
		}
		a.Conflicts = append(a.Conflicts, c)
	}
	return a, nil
}

// parseConflicts reads what git merge-tree -z says of paths that conflict, a stage each:
// "<mode> <object> <stage>\t<path>".
func parseConflicts(fields []string) ([]Conflict, error) {
	byPath := map[string]Conflict{}
	for _, field := range fields {
		info, path, ok := strings.Cut(field, "\t")
		words := strings.Fields(info)
		if !ok || len(words) != 3 {
			return nil, fmt.Errorf("git merge-tree: %q: %w", field, io.ErrUnexpectedEOF)
		}
		mode, err := strconv.ParseUint(words[0], 8, 32)
		if err != nil {
			return nil, fmt.Errorf("git merge-tree: %s: %w", path, err)
		}
		id, err := gitstore.ParseID(words[1])
		if err != nil {
			return nil, fmt.Errorf("git merge-tree: %s: %w", path, err)
		}
		c := byPath[path]
		c.Path = path
		switch e := (gitstore.TreeEntry{Mode: gitstore.Mode(mode), ID: id}); words[2] {
		case "1":
			c.Base = e
		case "2":
			c.Ours = e
		default:
			c.Theirs = e
		}
		byPath[path] = c
	}
	return slices.SortedFunc(maps.Values(byPath), func(a, b Conflict) int { return strings.Compare(a.Path, b.Path) }), nil
}
