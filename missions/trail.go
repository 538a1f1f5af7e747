package missions

import (
	"bytes"
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

// What is compared with a file that is new or gone, to find what it was called, or
// is since: so many files that went or came with the same snapshot, so large.
const (
	mostGone   = 200
	mostLooked = 1 << 20
)

// nameBefore is what a new file was called in the tree before: of those that are
// gone the one of the same content, else the one most like it, if half of the
// larger is in both, as Git has it; "" if there is none.
func (p *project) nameBefore(ctx context.Context, before, after gitstore.ID, path string) (string, error) {
	changes, err := p.changes(ctx, before, after)
	if err != nil {
		return "", err
	}
	var file gitstore.Change
	for _, r := range gitstore.FindRenames(changes) {
		if r.Path != path {
			continue
		}
		if r.OldPath != "" {
			return r.OldPath, nil
		}
		file = r.Change
	}
	var gone []named
	for _, c := range changes {
		if c.Type() == gitstore.Deleted {
			gone = append(gone, named{c.Path, c.From})
		}
	}
	return p.mostAlike(file.To, gone)
}

// changes are what differs between two trees.
func (p *project) changes(ctx context.Context, before, after gitstore.ID) (list []gitstore.Change, err error) {
	err = p.store.DiffTrees(before, after, func(c gitstore.Change) error {
		list = append(list, c)
		return ctx.Err()
	})
	return list, err
}

// named is an entry of a tree and its path.
type named struct {
	path string
	gitstore.TreeEntry
}

// mostAlike is the name of the one that is most like a file, or "".
func (p *project) mostAlike(file gitstore.TreeEntry, among []named) (string, error) {
	text, err := p.comparable(file)
	if len(text) == 0 || err != nil {
		return "", err
	}
	best, name, compared := 0.5, "", 0
	for _, other := range among {
		if other.Mode != file.Mode || compared == mostGone {
			continue
		}
		compared++
		its, err := p.comparable(other.TreeEntry)
		if err != nil {
			return "", err
		}
		if alike := likeness(its, text); alike > best || alike == best && name == "" {
			best, name = alike, other.path
		}
	}
	return name, nil
}

// comparable is the content of a file that is not too large to be compared.
func (p *project) comparable(e gitstore.TreeEntry) ([]byte, error) {
	if !e.Mode.IsBlob() {
		return nil, nil
	}
	r, size, err := p.store.BlobReader(e.ID)
	if err != nil {
		return nil, err
	}
	if err := r.Close(); err != nil || size > mostLooked {
		return nil, err
	}
	return p.store.Blob(e.ID)
}

// likeness is how much of the larger of two texts is in the other as well, by
// lines.
func likeness(a, b []byte) float64 {
	left, common := map[string]int{}, 0
	for line := range bytes.Lines(a) {
		left[string(line)]++
	}
	for line := range bytes.Lines(b) {
		if left[string(line)] > 0 {
			left[string(line)]--
			common += len(line)
		}
	}
	return float64(common) / float64(max(len(a), len(b), 1))
}

// entryAt is the entry at a path of a tree, or the zero one.
func (p *project) entryAt(tree gitstore.ID, path string) (gitstore.TreeEntry, error) {
	e, err := p.store.Lookup(tree, path)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return gitstore.TreeEntry{}, nil
	}
	return e, err
}
