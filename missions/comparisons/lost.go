package comparisons

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/diff"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// compareRest compares two trees that git did not compare, but for the files whose
// content is lost, which it names. Renames are found among some thousand files at once.
func compareRest(ctx context.Context, p *projects.Project, from, to gitstore.ID, paths []string, detail diff.Detail, failed error) (TreeChanges, error) {
	failed = snapshots.NotCompared(from, to, failed)
	if missions.AsError(failed).Kind != missions.KindDamaged {
		return TreeChanges{}, failed
	}
	var c TreeChanges
	var whole []string
	err := p.Store.DiffTrees(from, to, func(change gitstore.Change) error {
		if !isBelow(change.Path, paths) {
			return ctx.Err()
		}
		reason, err := lostIn(p, change)
		switch {
		case err != nil:
			return err
		case reason != "":
			c.Lost = append(c.Lost, missions.PathReason{Path: change.Path, Reason: reason})
		default:
			whole = append(whole, change.Path)
		}
		return ctx.Err()
	})
	if err != nil {
		return TreeChanges{}, missions.Errorf(missions.AsError(err).Kind, "umbra doctor", "compare %s and %s: %w", from.Short(), to.Short(), err)
	}
	if len(c.Lost) == 0 {
		return TreeChanges{}, failed
	}
	c.Files = []missions.FileChange{}
	for len(whole) > 0 {
		n, bytes := 0, 0
		for n < len(whole) && (n == 0 || bytes+len(whole[n]) < maxArgumentBytes) {
			bytes += len(whole[n]) + 1
			n++
		}
		d := Differ(ctx, p, detail, whole[:n])
		some, err := d.Trees(from, to)
		d.Close()
		if err != nil {
			return TreeChanges{}, snapshots.NotCompared(from, to, err)
		}
		c.Files, c.Patch = append(c.Files, fileChanges(some.Files)...), c.Patch+some.Patch
		c.Unpaired += some.Unpaired
		whole = whole[n:]
	}
	return c, nil
}

func isBelow(path string, paths []string) bool {
	return len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool {
		return p == "" || path == p || strings.HasPrefix(path, p+"/")
	})
}

// lostIn says which content of a changed file can't be read, "" if all can.
func lostIn(p *projects.Project, c gitstore.Change) (string, error) {
	var lost []string
	for _, side := range []struct {
		when string
		file gitstore.TreeEntry
	}{{"before", c.From}, {"after", c.To}} {
		if !side.file.Mode.IsBlob() {
			continue
		}
		r, _, err := p.Store.BlobReader(side.file.ID)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			err = errors.Join(err, r.Close())
		}
		if projects.IsObjectLost(err) {
			lost = append(lost, side.when)
		} else if err != nil {
			return "", err
		}
	}
	if len(lost) == 0 {
		return "", nil
	}
	return changeType(diff.File{Change: c}) + ", the content " + strings.Join(lost, " and ") + " is lost", nil
}
