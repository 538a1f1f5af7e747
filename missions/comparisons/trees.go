package comparisons

import (
	"context"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/diff"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// TreeChanges are the differences between two trees.
type TreeChanges struct {
	Files    []missions.FileChange
	Patch    string
	Unpaired int
	// Lost are changed files whose content can't be read; they are not among Files.
	Lost []missions.PathReason
}

// PatchDetail is the detail of a comparison, with the patch or without.
func PatchDetail(patch bool) diff.Detail {
	if patch {
		return diff.Patch
	}
	return diff.Lines
}

// Differ compares trees of a project, below some paths or whole.
func Differ(ctx context.Context, p *projects.Project, detail diff.Detail, paths []string) *diff.Differ {
	if slices.Contains(paths, "") {
		paths = nil
	}
	return diff.New(ctx, p.Store, detail, paths...)
}

// CompareTrees compares two trees once. What of them is lost is named, and the rest compared.
func CompareTrees(ctx context.Context, p *projects.Project, from, to gitstore.ID, paths []string, detail diff.Detail) (TreeChanges, error) {
	d := Differ(ctx, p, detail, paths)
	defer d.Close()
	found, err := d.Trees(from, to)
	if err != nil {
		return compareRest(ctx, p, from, to, paths, detail, err)
	}
	return treeChanges(found), nil
}

// DiffTrees compares two trees, as one pair of several.
func DiffTrees(d *diff.Differ, from, to gitstore.ID) (TreeChanges, error) {
	diff, err := d.Trees(from, to)
	if err != nil {
		return TreeChanges{}, snapshots.NotCompared(from, to, err)
	}
	return treeChanges(diff), nil
}

func treeChanges(d diff.Differences) TreeChanges {
	return TreeChanges{Files: fileChanges(d.Files), Patch: d.Patch, Unpaired: d.Unpaired}
}

func fileChanges(files []diff.File) []missions.FileChange {
	list := []missions.FileChange{}
	for _, f := range files {
		list = append(list, missions.FileChange{
			Path: f.Path, OldPath: f.OldPath, Similarity: f.Similarity, Type: changeType(f), Added: f.LinesAdded, Deleted: f.LinesDeleted, Binary: f.Binary,
		})
	}
	return list
}

func changeType(f diff.File) string {
	switch f.Type() {
	case gitstore.Added:
		return "added"
	case gitstore.Deleted:
		return "deleted"
	case gitstore.Renamed:
		return "renamed"
	}
	switch {
	case f.From.Mode == f.To.Mode:
		return "modified"
	case f.From.ID == f.To.ID && f.From.Mode.IsBlob() && f.To.Mode.IsBlob():
		return "mode"
	case f.From.Mode == gitstore.ModeSymlink || f.To.Mode == gitstore.ModeSymlink:
		return "type"
	}
	return "modified"
}
