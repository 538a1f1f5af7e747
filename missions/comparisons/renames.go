package comparisons

import (
	"context"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/diff"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// NameBefore is the name that a new file had in the tree before, by Git's rule for
// renames, as with git log --follow. "" says that it was not renamed.
func NameBefore(ctx context.Context, p *projects.Project, before, after gitstore.ID, path string) (string, error) {
	files, err := FindRenames(ctx, p, before, after, func(c gitstore.Change) bool { return c.Path == path || c.Type() == gitstore.Deleted })
	for _, f := range files {
		if f.Path == path {
			return f.OldPath, err
		}
	}
	return "", err
}

// maxArgumentBytes is how many bytes of paths git is given, well below what systems let
// a program be started with.
const maxArgumentBytes = 256 << 10

// FindRenames pairs the changes between two trees that keep selects. If they have more
// paths than git can be given, it pairs all changes.
func FindRenames(ctx context.Context, p *projects.Project, before, after gitstore.ID, keep func(gitstore.Change) bool) ([]diff.File, error) {
	var paths []string
	bytes, types := 0, map[gitstore.ChangeType]bool{}
	err := p.Store.DiffTrees(before, after, func(c gitstore.Change) error {
		if keep(c) {
			paths, types[c.Type()] = append(paths, c.Path), true
			bytes += len(c.Path) + 1
		}
		return ctx.Err()
	})
	if err != nil || !types[gitstore.Added] || !types[gitstore.Deleted] {
		return nil, err
	}
	if bytes > maxArgumentBytes {
		paths = nil
	}
	d := Differ(ctx, p, diff.Names, paths)
	defer d.Close()
	diff, err := d.Trees(before, after)
	if err != nil {
		return nil, snapshots.NotCompared(before, after, err)
	}
	return diff.Files, nil
}
