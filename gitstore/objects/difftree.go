package objects

import (
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
)

// DiffTrees calls fn for each path that differs between the trees a and b, where
// the zero ID stands for the empty tree, in Git's order of paths. Equal subtrees
// are not read, so the cost follows the difference. An error of fn ends it.
func (o *Reader) DiffTrees(a, b gitstore.ID, fn func(gitstore.Change) error) error {
	return o.DiffTreesIn(a, b, nil, fn)
}

// DiffTreesIn is DiffTrees without what lies below directories for which enter
// is false. It is asked by the path, "" for the trees themselves; nil enters
// all.
func (o *Reader) DiffTreesIn(a, b gitstore.ID, enter func(dir string) bool, fn func(gitstore.Change) error) error {
	return (&treeDiff{o, enter, fn}).trees("", a, b)
}

type treeDiff struct {
	*Reader
	enter func(dir string) bool
	found func(gitstore.Change) error
}

// trees compares two trees; prefix is their path with a slash at its end.
func (d *treeDiff) trees(prefix string, a, b gitstore.ID) error {
	if a == b || d.enter != nil && !d.enter(strings.TrimSuffix(prefix, "/")) {
		return nil
	}
	from, err := d.TreeReaderOrNone(a)
	if err != nil {
		return err
	}
	to, err := d.TreeReaderOrNone(b)
	if err != nil {
		return err
	}
	for from.OK || to.OK {
		var x, y gitstore.RawEntry
		c := compareHeads(&from, &to)
		if c <= 0 {
			x = from.Head
			if err := gitstore.AboutObject(a, from.Next()); err != nil {
				return err
			}
		}
		if c >= 0 {
			y = to.Head
			if err := gitstore.AboutObject(b, to.Next()); err != nil {
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
func compareHeads(from, to *gitstore.TreeReader) int {
	switch {
	case !from.OK:
		return 1
	case !to.OK:
		return -1
	}
	return from.Head.Compare(&to.Head)
}

// entry handles entries that have one name and agree in being a directory, or
// of which one is absent.
func (d *treeDiff) entry(prefix string, x, y *gitstore.RawEntry) error {
	if x.ID == y.ID && x.Mode == y.Mode {
		return nil
	}
	name := x.Name
	if len(name) == 0 {
		name = y.Name
	}
	path := prefix + string(name)
	if x.Mode.IsDir() || y.Mode.IsDir() {
		return d.trees(path+"/", x.ID, y.ID)
	}
	return d.found(gitstore.Change{Path: path, From: x.Entry(), To: y.Entry()})
}
