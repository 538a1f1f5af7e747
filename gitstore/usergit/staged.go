package usergit

import (
	"fmt"
	"slices"
	"strings"
)

// Change is how a path of the index differs from HEAD's tree.
type Change string

// The changes.
const (
	Added      Change = "added"
	Modified   Change = "modified" // content, mode or type
	Deleted    Change = "deleted"
	Conflicted Change = "conflicted"    // one StagedEntry for each stage
	Intended   Change = "intent-to-add" // git add -N: no content is staged
)

// StagedEntry is one difference between HEAD's tree and the index. A gitlink
// is told by its mode, ModeGitlink; its id names a commit of another
// repository.
type StagedEntry struct {
	Change Change
	Path   string
	Mode   Mode  // in the index; 0 if deleted
	ID     ID    // in the index; zero if deleted
	Stage  int   // 1 to 3 if conflicted, else 0
	Flags  Flags // of the entry of the index
}

// Staged is the staged state: how the index differs from the tree that HEAD
// has, sorted by path and stage. The zero ID is the tree of an unborn HEAD. A
// directory that Git knows to be equal is not read.
func Staged(objects Objects, tree ID, index *Index) ([]StagedEntry, error) {
	s := &stager{objects: objects, trees: index.trees}
	err := s.directory("", tree, index.Entries)
	slices.SortFunc(s.found, func(a, b StagedEntry) int {
		return compareEntries(Entry{Path: a.Path, Stage: a.Stage}, Entry{Path: b.Path, Stage: b.Stage})
	})
	return s.found, err
}

type stager struct {
	objects Objects
	trees   map[string]cachedTree
	found   []StagedEntry
}

// directory compares a directory's tree with the entries below its prefix.
// Both are in the order of their keys: the name, for a directory with a slash.
func (s *stager) directory(prefix string, tree ID, entries []Entry) error {
	known, ok := s.trees[prefix]
	if ok && !tree.IsZero() && known.id == tree && known.count == len(entries) {
		return nil
	}
	head, err := s.read(prefix, tree)
	if err != nil {
		return err
	}
	for len(head) > 0 || len(entries) > 0 {
		var inHead *TreeEntry
		var group []Entry
		headKey, indexKey := "", ""
		if len(head) > 0 {
			headKey = treeKey(head[0])
		}
		if len(entries) > 0 {
			indexKey = entryKey(prefix, entries[0])
		}
		if len(head) > 0 && (len(entries) == 0 || headKey <= indexKey) {
			inHead, head = &head[0], head[1:]
		}
		if len(entries) > 0 && (inHead == nil || indexKey == headKey) {
			n := 1
			for n < len(entries) && entryKey(prefix, entries[n]) == indexKey {
				n++
			}
			group, entries = entries[:n], entries[n:]
		}
		if err := s.compare(prefix, inHead, group); err != nil {
			return err
		}
	}
	return nil
}

func (s *stager) read(prefix string, tree ID) ([]TreeEntry, error) {
	if tree.IsZero() {
		return nil, nil
	}
	head, err := s.objects.Tree(tree)
	if err != nil {
		return nil, fmt.Errorf("read tree %s of %q: %w", tree, prefix, err)
	}
	head = slices.Clone(head)
	slices.SortFunc(head, func(a, b TreeEntry) int { return strings.Compare(treeKey(a), treeKey(b)) })
	return head, nil
}

func treeKey(e TreeEntry) string {
	if e.Mode.canonical() == ModeDir {
		return e.Name + "/"
	}
	return e.Name
}

func entryKey(prefix string, e Entry) string {
	rest := e.Path[len(prefix):]
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		return rest[:slash+1]
	}
	return rest
}

// compare compares one key: what HEAD has there, if anything, with the entries
// of the index, if any.
func (s *stager) compare(prefix string, inHead *TreeEntry, group []Entry) error {
	headTree := ID{}
	isDir := false
	name := ""
	if inHead != nil {
		name = inHead.Name
		if isDir = inHead.Mode.canonical() == ModeDir; isDir {
			headTree = inHead.ID
		}
	}
	if len(group) > 0 {
		key := entryKey(prefix, group[0])
		name = strings.TrimSuffix(key, "/")
		isDir = strings.HasSuffix(key, "/")
	}
	if !isDir {
		s.file(prefix+name, inHead, group)
		return nil
	}
	dir := prefix + name + "/"
	if len(group) == 1 && group[0].Path == dir && group[0].Mode == ModeDir {
		if group[0].ID == headTree {
			return nil
		}
		var err error
		if group, err = expand(s.objects, group[0]); err != nil {
			return err
		}
	}
	return s.directory(dir, headTree, group)
}

func (s *stager) file(path string, inHead *TreeEntry, group []Entry) {
	if len(group) == 0 {
		s.found = append(s.found, StagedEntry{Change: Deleted, Path: path})
		return
	}
	for _, e := range group {
		change := Added
		switch {
		case e.Stage > 0:
			change = Conflicted
		case e.Flags.IntentToAdd:
			change = Intended
		case inHead != nil && inHead.ID == e.ID && inHead.Mode.canonical() == e.Mode.canonical():
			continue
		case inHead != nil:
			change = Modified
		}
		s.found = append(s.found, StagedEntry{
			Change: change, Path: e.Path, Mode: e.Mode, ID: e.ID, Stage: e.Stage, Flags: e.Flags,
		})
	}
}

// walkTree calls found for all that is in a tree and not a directory. Prefix
// is "" or ends in a slash.
func walkTree(objects Objects, prefix string, tree ID, found func(path string, e TreeEntry)) error {
	entries, err := objects.Tree(tree)
	if err != nil {
		return fmt.Errorf("read tree %s of %q: %w", tree, prefix, err)
	}
	for _, e := range entries {
		if e.Mode.canonical() != ModeDir {
			found(prefix+e.Name, e)
			continue
		}
		if err := walkTree(objects, prefix+e.Name+"/", e.ID, found); err != nil {
			return err
		}
	}
	return nil
}
