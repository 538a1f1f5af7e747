package objects

import (
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
)

// Tree returns the entries of a tree in Git's order. The slice is the caller's.
func (o *Reader) Tree(id gitstore.ID) ([]gitstore.TreeEntry, error) {
	if id == gitstore.EmptyTree() {
		return nil, nil
	}
	data, err := o.recalled(id, gitstore.TypeTree)
	if err != nil {
		return nil, err
	}
	entries, err := gitstore.ParseTree(data)
	return entries, gitstore.AboutObject(id, err)
}

// Lookup returns the entry at a slash-separated path below tree; the empty path
// is the tree itself. A path that is not there, also one below a file, is
// ErrNoEntry.
func (o *Reader) Lookup(tree gitstore.ID, path string) (gitstore.TreeEntry, error) {
	at := gitstore.TreeEntry{Mode: gitstore.ModeDir, ID: tree}
	if path == "" {
		return at, nil
	}
	for name := range strings.SplitSeq(path, "/") {
		if !at.Mode.IsDir() {
			return gitstore.TreeEntry{}, fmt.Errorf("%s: %w", path, gitstore.ErrNoEntry)
		}
		r, err := o.TreeReader(at.ID)
		for r.OK && err == nil && string(r.Head.Name) != name {
			err = gitstore.AboutObject(at.ID, r.Next())
		}
		if err != nil {
			return gitstore.TreeEntry{}, err
		}
		if !r.OK {
			return gitstore.TreeEntry{}, fmt.Errorf("%s: %w", path, gitstore.ErrNoEntry)
		}
		at = r.Head.Entry()
	}
	return at, nil
}

// WalkTree calls fn for every entry below tree, subtrees before what they hold,
// in Git's order, with the path from the root of the walk. Any error of fn but
// SkipTree ends the walk and is returned.
func (o *Reader) WalkTree(tree gitstore.ID, fn func(path string, e gitstore.TreeEntry) error) error {
	return o.walkTree(tree, "", fn)
}

func (o *Reader) walkTree(tree gitstore.ID, prefix string, fn func(string, gitstore.TreeEntry) error) error {
	entries, err := o.Tree(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := prefix + e.Name
		err := fn(path, e)
		if err == gitstore.SkipTree {
			continue
		}
		if err != nil {
			return err
		}
		if e.Mode.IsDir() {
			if err := o.walkTree(e.ID, path+"/", fn); err != nil {
				return err
			}
		}
	}
	return nil
}

// TreeReaderOrNone is TreeReader for an id that is zero where there is no tree.
func (o *Reader) TreeReaderOrNone(id gitstore.ID) (gitstore.TreeReader, error) {
	if id.IsZero() {
		return gitstore.TreeReader{}, nil
	}
	return o.TreeReader(id)
}

// TreeReader begins to read a stored tree.
func (o *Reader) TreeReader(id gitstore.ID) (gitstore.TreeReader, error) {
	if id == gitstore.EmptyTree() {
		return gitstore.TreeReader{}, nil
	}
	data, err := o.recalled(id, gitstore.TypeTree)
	if err != nil {
		return gitstore.TreeReader{}, err
	}
	r, err := gitstore.ReadTree(data)
	return r, gitstore.AboutObject(id, err)
}
