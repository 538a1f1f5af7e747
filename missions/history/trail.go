package history

import (
	"context"
	"errors"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/diff"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/comparisons"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// A pathTrail follows a path back through history, newest first: in each snapshot a file
// has the name that it had then.
type pathTrail struct {
	project *projects.Project
	path    string // "" is everything
	found   bool   // the path was in one of the snapshots, or in a parent
}

// follow gives the path's name in a snapshot, whether the snapshot changed it and, if it
// renamed it, the name before.
func (t *pathTrail) follow(ctx context.Context, s *gitstore.Snapshot) (path, from string, touched bool, err error) {
	path = t.path
	if path == "" {
		t.found = true
		return "", "", true, nil
	}
	now, err := treeEntry(t.project, s.Tree, path)
	if err != nil {
		return path, "", false, err
	}
	var tree gitstore.ID
	before := gitstore.TreeEntry{}
	if parent := s.Parent(); !parent.IsZero() {
		prev, err := t.project.SnapshotCache.ReadSnapshot(t.project.Store, parent)
		if err != nil {
			return path, "", false, err
		}
		tree = prev.Tree
		if before, err = treeEntry(t.project, tree, path); err != nil {
			return path, "", false, err
		}
	}
	t.found = t.found || !now.ID.IsZero() || !before.ID.IsZero()
	if !tree.IsZero() && before.ID.IsZero() && now.Mode.IsBlob() {
		if from, err = comparisons.NameBefore(ctx, t.project, tree, s.Tree, path); err != nil {
			return path, "", false, err
		}
		if from != "" {
			t.path = from
		}
	}
	return path, from, now.ID != before.ID || now.Mode != before.Mode, nil
}

// nameAtMoment is the name that a path of a mission's newest snapshot had at a moment.
func nameAtMoment(ctx context.Context, f addresses.ResolvedMoment, path string) (string, error) {
	return nameInSnapshot(ctx, f.Project, f.Mission, f.Snapshot.ID, path)
}

// treeEntry is the entry at a path of a tree, or the zero one.
func treeEntry(p *projects.Project, tree gitstore.ID, path string) (gitstore.TreeEntry, error) {
	e, err := p.Store.Lookup(tree, path)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return gitstore.TreeEntry{}, nil
	}
	return e, err
}

// nameInFork is the name of a mission's file in a fork, since either may have renamed it.
// A file that the fork has removed keeps its last name. "" is every path.
func nameInFork(ctx context.Context, p *projects.Project, parent, fork *projects.Mission, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	var own []*gitstore.Snapshot // the fork's, newest first
	var point *gitstore.Snapshot // where it branched off
	for s, err := range p.SnapshotCache.WalkHistory(p.Store, fork.Tip.ID) {
		if err != nil {
			return "", err
		}
		if s.Mission != fork.ID {
			point = s
			break
		}
		own = append(own, s)
	}
	if point == nil {
		return path, nil
	}
	name, err := nameInSnapshot(ctx, p, parent, point.ID, path)
	if err != nil {
		return "", err
	}
	before := point.Tree
	for i := len(own) - 1; i >= 0; i-- {
		if name, err = nameInTreeAfter(ctx, p, before, own[i].Tree, name); err != nil {
			return "", err
		}
		before = own[i].Tree
	}
	return nameInTree(p, before, name, path)
}

// nameInTree is the first of two names that is in a tree, or the first if neither is.
func nameInTree(p *projects.Project, tree gitstore.ID, first, second string) (string, error) {
	for _, name := range []string{first, second} {
		e, err := treeEntry(p, tree, name)
		if err != nil {
			return "", err
		}
		if !e.ID.IsZero() {
			return name, nil
		}
	}
	return first, nil
}

// nameInSnapshot is the name of a mission's file in an earlier snapshot of its history. If
// the history does not reach back there, it is the present name.
func nameInSnapshot(ctx context.Context, p *projects.Project, m *projects.Mission, at gitstore.ID, path string) (string, error) {
	trail := pathTrail{project: p, path: path}
	for s, err := range p.SnapshotCache.WalkHistory(p.Store, m.Tip.ID) {
		if err != nil {
			return path, nil // the log reports what is lost
		}
		if s.ID == at {
			return trail.path, nil
		}
		if _, _, _, err := trail.follow(ctx, s); err != nil {
			return path, err
		}
	}
	return path, nil
}

// nameInTreeAfter is NameBefore the other way round: the name of a file in the next
// tree. A file that is gone keeps its name.
func nameInTreeAfter(ctx context.Context, p *projects.Project, before, after gitstore.ID, path string) (string, error) {
	if before == after {
		return path, nil
	}
	was, err := treeEntry(p, before, path)
	if err != nil || !was.Mode.IsBlob() {
		return path, err
	}
	if now, err := treeEntry(p, after, path); err != nil || !now.ID.IsZero() {
		return path, err
	}
	renames, err := comparisons.FindRenames(ctx, p, before, after, func(c gitstore.Change) bool { return c.Path == path || c.Type() == gitstore.Added })
	at := slices.IndexFunc(renames, func(f diff.File) bool { return f.OldPath == path })
	if err != nil || at < 0 {
		return path, err
	}
	name := renames[at].Path
	back, err := comparisons.NameBefore(ctx, p, before, after, name)
	if err != nil || back != path { // it came of another one
		return path, err
	}
	return name, nil
}
