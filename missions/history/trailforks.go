package history

import (
	"context"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// nameInFork is what a file of a mission is called in a fork of it, where each may
// have given it another name since: "" path is everything. One that the fork has
// removed keeps its last name.
func nameInFork(p *projects.Project, ctx context.Context, parent, fork *projects.Mission, path string) (string, error) {
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
	name, err := nameInSnapshot(p, ctx, parent, point.ID, path)
	if err != nil {
		return "", err
	}
	before := point.Tree
	for i := len(own) - 1; i >= 0; i-- {
		if name, err = nameInTreeAfter(p, ctx, before, own[i].Tree, name); err != nil {
			return "", err
		}
		before = own[i].Tree
	}
	return nameInTree(p, before, name, path)
}

// nameInTree is the first of two names that is in a tree, the first if none is.
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

// nameInSnapshot is what a file of a mission was called in one of its snapshots, or of those
// that it goes back to; what it is called now where that is cut off from the newest.
func nameInSnapshot(p *projects.Project, ctx context.Context, m *projects.Mission, at gitstore.ID, path string) (string, error) {
	trail := pathTrail{project: p, path: path}
	for s, err := range p.SnapshotCache.WalkHistory(p.Store, m.Tip.ID) {
		if err != nil {
			return path, nil // what lists it says what is lost
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

// nameInTreeAfter is nameInTreeBefore the other way round: what a file of a tree is called in
// the one after it; its own name where it is gone.
func nameInTreeAfter(p *projects.Project, ctx context.Context, before, after gitstore.ID, path string) (string, error) {
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
	renames, err := findRenames(p, ctx, before, after, func(c gitstore.Change) bool { return c.Path == path || c.Type() == gitstore.Added })
	at := slices.IndexFunc(renames, func(f gitstore.FileDiff) bool { return f.OldPath == path })
	if err != nil || at < 0 {
		return path, err
	}
	name := renames[at].Path
	back, err := nameInTreeBefore(p, ctx, before, after, name)
	if err != nil || back != path { // it came of another one
		return path, err
	}
	return name, nil
}
