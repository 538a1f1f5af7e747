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
// content is lost and the directories that are, which it names. Renames are found among some thousand files at once.
func compareRest(ctx context.Context, p *projects.Project, from, to gitstore.ID, paths []string, detail diff.Detail, failed error) (TreeChanges, error) {
	failed = snapshots.NotCompared(from, to, failed)
	if missions.AsError(failed).Kind != missions.KindDamaged {
		return TreeChanges{}, failed
	}
	var c TreeChanges
	var whole []string
	var unread error
	enter := func(dir string) bool {
		if dir == "" || !isBelow(dir, paths) && !holdsAny(dir, paths) {
			return dir == ""
		}
		reason, err := lostDirectory(p, from, to, dir)
		unread = errors.Join(unread, err)
		if reason != "" {
			c.Lost = append(c.Lost, missions.PathReason{Path: dir, Reason: reason})
		}
		return reason == "" && err == nil
	}
	err := p.Store.DiffTreesIn(from, to, enter, func(change gitstore.Change) error {
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
	if err = errors.Join(err, unread); err != nil {
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

// holdsAny tells whether one of the paths is below a directory.
func holdsAny(dir string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, dir+"/") })
}

// lostDirectory says of a changed directory whose own directory is whole on which side
// it can't be read, "" if on none.
func lostDirectory(p *projects.Project, from, to gitstore.ID, dir string) (string, error) {
	var lost []string
	for _, side := range []struct {
		when string
		tree gitstore.ID
	}{{"before", from}, {"after", to}} {
		if side.tree.IsZero() {
			continue
		}
		at, err := p.Store.Lookup(side.tree, dir)
		if err == nil && at.Mode.IsDir() {
			_, err = p.Store.Tree(at.ID)
		}
		if projects.IsObjectLost(err) {
			lost = append(lost, side.when)
		} else if err != nil && !errors.Is(err, gitstore.ErrNoEntry) {
			return "", err
		}
	}
	if len(lost) == 0 {
		return "", nil
	}
	return "a directory; what was in it " + strings.Join(lost, " and ") + " is lost", nil
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
