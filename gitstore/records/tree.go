package records

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// Tree builds the tree of a record from that of the record before, by
// path. Only directories on the way to what changes are read and written, so a
// record costs what changed. Not safe for concurrent use.
type Tree struct {
	store *shadow.Store
	root  *recordNode
}

// recordNode is one entry: a stored object, new content, or a directory that was
// read.
type recordNode struct {
	mode     gitstore.Mode
	id       gitstore.ID
	content  []byte
	fresh    bool
	children map[string]*recordNode
}

// NewTree starts from base, a tree, or from nothing if base is zero.
func NewTree(s *shadow.Store, base gitstore.ID) *Tree {
	root := &recordNode{mode: gitstore.ModeDir, id: base}
	if base.IsZero() {
		root.children = map[string]*recordNode{}
	}
	return &Tree{store: s, root: root}
}

// load reads the entries of a directory that was not read yet.
func (t *Tree) load(n *recordNode) error {
	if n.children != nil {
		return nil
	}
	entries, err := t.store.Tree(n.id)
	if err != nil {
		return err
	}
	n.children = make(map[string]*recordNode, len(entries))
	for _, e := range entries {
		n.children[e.Name] = &recordNode{mode: e.Mode, id: e.ID}
	}
	return nil
}

func splitRecordPath(path string) ([]string, error) {
	parts := strings.Split(path, "/")
	for _, p := range parts {
		if err := gitstore.CheckName(p); err != nil {
			return nil, fmt.Errorf("record path %q: %w", path, err)
		}
	}
	return parts, nil
}

// dir returns the directory that holds path's last component, made if make is
// set; nil if it is not there.
func (t *Tree) dir(parts []string, make bool) (*recordNode, error) {
	at := t.root
	for i, name := range parts {
		if err := t.load(at); err != nil {
			return nil, err
		}
		if make {
			at.id = gitstore.ID{}
		}
		if i == len(parts)-1 {
			break
		}
		next := at.children[name]
		if next == nil || !next.mode.IsDir() {
			if !make {
				return nil, nil
			}
			next = &recordNode{mode: gitstore.ModeDir, children: map[string]*recordNode{}}
			at.children[name] = next
		}
		at = next
	}
	return at, nil
}

func (t *Tree) set(path string, n *recordNode) error {
	parts, err := splitRecordPath(path)
	if err != nil {
		return err
	}
	dir, err := t.dir(parts, true)
	if err != nil {
		return err
	}
	dir.children[parts[len(parts)-1]] = n
	return nil
}

// Put sets the file at path; what stood there, and a file in the place of a
// directory above, is replaced. It keeps content, which is not to be changed any more.
func (t *Tree) Put(path string, content []byte) error {
	return t.set(path, &recordNode{mode: gitstore.ModeFile, content: content, fresh: true})
}

// PutEntry sets the entry at path to an object that is stored, or in the batch
// that Write is given: a blob, or with ModeDir a whole tree.
func (t *Tree) PutEntry(path string, mode gitstore.Mode, id gitstore.ID) error {
	if id.IsZero() || mode == gitstore.ModeGitlink {
		return fmt.Errorf("record path %q: not an object that a record can hold", path)
	}
	return t.set(path, &recordNode{mode: mode, id: id})
}

// Remove takes away the file or directory at path, if there is one.
func (t *Tree) Remove(path string) error {
	parts, err := splitRecordPath(path)
	if err != nil {
		return err
	}
	dir, err := t.dir(parts, false)
	if err != nil || dir == nil || dir.children[parts[len(parts)-1]] == nil {
		return err
	}
	if dir, err = t.dir(parts, true); err == nil {
		delete(dir.children, parts[len(parts)-1])
	}
	return err
}

// File returns the content at path as it would be written; ErrNoEntry if there
// is no file.
func (t *Tree) File(path string) ([]byte, error) {
	parts, err := splitRecordPath(path)
	if err != nil {
		return nil, err
	}
	dir, err := t.dir(parts, false)
	if err != nil {
		return nil, err
	}
	if dir == nil || dir.children[parts[len(parts)-1]] == nil {
		return nil, fmt.Errorf("%s: %w", path, gitstore.ErrNoEntry)
	}
	n := dir.children[parts[len(parts)-1]]
	switch {
	case n.fresh:
		return slices.Clone(n.content), nil
	case n.mode.IsDir():
		return nil, fmt.Errorf("%s: %w", path, gitstore.ErrNoEntry)
	}
	return t.store.Document(n.id)
}

// List returns the names and modes below the directory at path ("" is the root),
// sorted by name; none if there is no such directory. The ids of what was put
// since are zero.
func (t *Tree) List(path string) ([]gitstore.TreeEntry, error) {
	at := t.root
	if path != "" {
		parts, err := splitRecordPath(path)
		if err != nil {
			return nil, err
		}
		dir, err := t.dir(parts, false)
		if err != nil || dir == nil || dir.children[parts[len(parts)-1]] == nil {
			return nil, err
		}
		at = dir.children[parts[len(parts)-1]]
	}
	if !at.mode.IsDir() {
		return nil, nil
	}
	if err := t.load(at); err != nil {
		return nil, err
	}
	out := make([]gitstore.TreeEntry, 0, len(at.children))
	for name, n := range at.children {
		out = append(out, gitstore.TreeEntry{Name: name, Mode: n.mode, ID: n.id})
	}
	slices.SortFunc(out, func(a, b gitstore.TreeEntry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Write adds what changed to the batch and returns the tree's id. Directories
// left empty are dropped.
func (t *Tree) Write(b *shadow.Batch) (gitstore.ID, error) {
	if err := t.write(b, t.root); err != nil {
		return gitstore.ID{}, err
	}
	if t.root.id.IsZero() {
		return b.Tree(nil)
	}
	return t.root.id, nil
}

// write gives n its id; a directory without entries keeps the zero ID.
func (t *Tree) write(b *shadow.Batch, n *recordNode) error {
	if n.fresh {
		id, err := b.Blob(n.content)
		if err == nil {
			t.store.Remember(id, gitstore.TypeBlob, n.content)
		}
		n.id, n.content, n.fresh = id, nil, err != nil
		return err
	}
	if !n.mode.IsDir() || !n.id.IsZero() {
		return nil
	}
	entries := make([]gitstore.TreeEntry, 0, len(n.children))
	for name, child := range n.children {
		if err := t.write(b, child); err != nil {
			return err
		}
		if !child.id.IsZero() {
			entries = append(entries, gitstore.TreeEntry{Name: name, Mode: child.mode, ID: child.id})
		}
	}
	if len(entries) == 0 {
		return nil
	}
	id, err := b.Tree(entries)
	n.id = id
	return err
}
