package capture

import (
	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// Known is what a Scanner knew of its workspace when a capture was accepted. It
// never changes and may be used by any goroutine. The zero value knows nothing.
type Known struct{ base *node }

// Known is what the Scanner knows now.
func (s *Scanner) Known() Known {
	if s.suspect {
		return Known{}
	}
	return Known{s.base}
}

// Tree is the tree of that capture, zero if there was none.
func (k Known) Tree() gitstore.ID {
	if k.base == nil {
		return gitstore.ID{}
	}
	return k.base.tree
}

// Content is the id of the content of the regular file at a path below the
// workspace, if st, its stat data now, prove that it is what a capture read.
func (k Known) Content(path string, st *beneath.Stat) (id gitstore.ID, ok bool) {
	n, e := k.base.within(path)
	if e == nil || e.kind != kindFile && e.kind != kindExecutable || st.Device != n.device {
		return id, false
	}
	return e.id, e.flags&flagTrusted != 0 && e.stat == fingerprintOf(st)
}

// Unread is how many files were taken over from the user's repository, by what
// its index says, and have not been read since.
func (k Known) Unread() int {
	if k.base == nil {
		return 0
	}
	return k.base.sum.seeded
}

// Seeded tells whether the file at a path is one of them.
func (k Known) Seeded(path string) bool {
	if k.Unread() == 0 {
		return false
	}
	_, e := k.base.within(path)
	return e != nil && e.flags&flagSeeded != 0
}

// WalkTree calls fn for every entry below a tree as objects.Reader.WalkTree
// does, but that any error of fn ends the walk, without reading an object. It
// reports false, having called nothing, if the capture did not give that tree.
func (k Known) WalkTree(tree gitstore.ID, fn func(path string, e gitstore.TreeEntry) error) (known bool, err error) {
	if k.base == nil || tree.IsZero() || k.base.tree != tree {
		return false, nil
	}
	return true, k.base.walkTree("", fn)
}

func (n *node) walkTree(path string, fn func(string, gitstore.TreeEntry) error) error {
	list := treeEntries(n.entries)
	gitstore.SortEntries(list)
	for _, e := range list {
		at := treepath.Join(path, e.Name)
		if err := fn(at, e); err != nil {
			return err
		}
		if e.Mode.IsDir() {
			if err := n.lookup(e.Name).dir.walkTree(at, fn); err != nil {
				return err
			}
		}
	}
	return nil
}

// within is the entry of a path below the directory, and the directory that it
// is in; nil if there is none.
func (n *node) within(path string) (*node, *entry) {
	for at := 0; n != nil; {
		end := at
		for end < len(path) && path[end] != '/' {
			end++
		}
		e := n.lookup(path[at:end])
		if e == nil || end == len(path) {
			return n, e
		}
		n, at = e.dir, end+1
	}
	return nil, nil
}
