package gitstore

import (
	"strings"
)

// Change is one path that differs between two trees. From or To is zero where
// the path is not in that tree. A file that became a directory, or the reverse,
// is a deletion and additions. Directories themselves are never given.
type Change struct {
	Path     string
	From, To TreeEntry
}

// ChangeType is what happened to a path.
type ChangeType byte

// The types of a change, with the letters of git's --name-status.
const (
	Added    ChangeType = 'A'
	Deleted  ChangeType = 'D'
	Modified ChangeType = 'M'
	// TypeChanged is a change between file, symbolic link and gitlink.
	TypeChanged ChangeType = 'T'
	// Renamed is given only by a Differ.
	Renamed ChangeType = 'R'
)

// Type classifies the change.
func (c Change) Type() ChangeType {
	switch {
	case c.From.ID.IsZero():
		return Added
	case c.To.ID.IsZero():
		return Deleted
	case c.From.Mode != c.To.Mode && !(regular(c.From.Mode) && regular(c.To.Mode)):
		return TypeChanged
	}
	return Modified
}

func regular(m Mode) bool { return m == ModeFile || m == ModeExec }

// DiffTrees calls fn for each path that differs between the trees a and b, where
// the zero ID stands for the empty tree, in Git's order of paths. Equal subtrees
// are not read, so the cost follows the difference. An error of fn ends it.
func (o *Objects) DiffTrees(a, b ID, fn func(Change) error) error {
	return o.DiffTreesIn(a, b, nil, fn)
}

// DiffTreesIn is DiffTrees without what lies below directories for which enter
// is false. It is asked by the path, "" for the trees themselves; nil enters
// all.
func (o *Objects) DiffTreesIn(a, b ID, enter func(dir string) bool, fn func(Change) error) error {
	return (&treeDiff{o, enter, fn}).trees("", a, b)
}

type treeDiff struct {
	*Objects
	enter func(dir string) bool
	found func(Change) error
}

// trees compares two trees; prefix is their path with a slash at its end.
func (d *treeDiff) trees(prefix string, a, b ID) error {
	if a == b || d.enter != nil && !d.enter(strings.TrimSuffix(prefix, "/")) {
		return nil
	}
	from, err := d.treeReaderOrNone(a)
	if err != nil {
		return err
	}
	to, err := d.treeReaderOrNone(b)
	if err != nil {
		return err
	}
	for from.ok || to.ok {
		var x, y rawEntry
		c := compareHeads(&from, &to)
		if c <= 0 {
			x = from.head
			if err := AboutObject(a, from.next()); err != nil {
				return err
			}
		}
		if c >= 0 {
			y = to.head
			if err := AboutObject(b, to.next()); err != nil {
				return err
			}
		}
		if err := d.entry(prefix, &x, &y); err != nil {
			return err
		}
	}
	return nil
}

// compareHeads orders the next entries of two trees. A file and a directory of
// one name do not meet here: Git sorts them apart.
func compareHeads(from, to *treeReader) int {
	switch {
	case !from.ok:
		return 1
	case !to.ok:
		return -1
	}
	return from.head.compare(&to.head)
}

// entry handles entries that have one name and agree in being a directory, or
// of which one is absent.
func (d *treeDiff) entry(prefix string, x, y *rawEntry) error {
	if x.id == y.id && x.mode == y.mode {
		return nil
	}
	name := x.name
	if len(name) == 0 {
		name = y.name
	}
	path := prefix + string(name)
	if x.mode.IsDir() || y.mode.IsDir() {
		return d.trees(path+"/", x.id, y.id)
	}
	return d.found(Change{Path: path, From: x.entry(), To: y.entry()})
}
