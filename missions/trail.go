package missions

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
)

// A trail is a path that is followed back through history, newest first: a file
// has there the name that it had then.
type trail struct {
	project *project
	path    string // "" is everything
	known   bool   // it was there in a snapshot, or in the one before
}

// step tells what the path is in a snapshot, whether that changed it against the
// one before and, where the file came to be there by another name, which.
func (t *trail) step(ctx context.Context, s *gitstore.Snapshot) (path, from string, touched bool, err error) {
	path = t.path
	if path == "" {
		t.known = true
		return "", "", true, nil
	}
	now, err := t.project.entryAt(s.Tree, path)
	if err != nil {
		return path, "", false, err
	}
	var tree gitstore.ID
	before := gitstore.TreeEntry{}
	if parent := s.Parent(); !parent.IsZero() {
		prev, err := t.project.snapshots.snapshot(t.project.store, parent)
		if err != nil {
			return path, "", false, err
		}
		tree = prev.Tree
		if before, err = t.project.entryAt(tree, path); err != nil {
			return path, "", false, err
		}
	}
	t.known = t.known || !now.ID.IsZero() || !before.ID.IsZero()
	if !tree.IsZero() && before.ID.IsZero() && now.Mode.IsBlob() {
		if from, err = t.project.nameBefore(ctx, tree, s.Tree, path); err != nil {
			return path, "", false, err
		}
		if from != "" {
			t.path = from
		}
	}
	return path, from, now.ID != before.ID || now.Mode != before.Mode, nil
}

// nameThen is what a path of a mission's newest snapshot was called at a moment.
func (f found) nameThen(ctx context.Context, path string) (string, error) {
	return f.project.nameAt(ctx, f.loaded, f.step.ID, path)
}

// nameBefore is what a new file was called in the tree before, by Git's rule for
// renames, as with git log --follow: of that file alone; "" if there is none.
func (p *project) nameBefore(ctx context.Context, before, after gitstore.ID, path string) (string, error) {
	files, err := p.renames(ctx, before, after, func(c gitstore.Change) bool { return c.Path == path || c.Type() == gitstore.Deleted })
	for _, f := range files {
		if f.Path == path {
			return f.OldPath, err
		}
	}
	return "", err
}

// mostArguments is how many bytes of paths git is given, well below what systems let
// a program be started with.
const mostArguments = 256 << 10

// renames are those of the changes between two trees that are kept, paired. Of more
// paths than git can be given all are paired.
func (p *project) renames(ctx context.Context, before, after gitstore.ID, keep func(gitstore.Change) bool) ([]gitstore.FileDiff, error) {
	var paths []string
	bytes, types := 0, map[gitstore.ChangeType]bool{}
	err := p.store.DiffTrees(before, after, func(c gitstore.Change) error {
		if keep(c) {
			paths, types[c.Type()] = append(paths, c.Path), true
			bytes += len(c.Path) + 1
		}
		return ctx.Err()
	})
	if err != nil || !types[gitstore.Added] || !types[gitstore.Deleted] {
		return nil, err
	}
	if bytes > mostArguments {
		paths = nil
	}
	d := p.differ(ctx, gitstore.DiffNames, paths)
	defer d.Close()
	diff, err := d.Trees(before, after)
	if err != nil {
		return nil, notCompared(before, after, err)
	}
	return diff.Files, nil
}

// entryAt is the entry at a path of a tree, or the zero one.
func (p *project) entryAt(tree gitstore.ID, path string) (gitstore.TreeEntry, error) {
	e, err := p.store.Lookup(tree, path)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return gitstore.TreeEntry{}, nil
	}
	return e, err
}
