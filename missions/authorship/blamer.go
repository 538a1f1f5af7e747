// Package authorship says which turn wrote each line of a file. It goes by what the file
// held in each snapshot, and by no commit id: a branch that was squashed, rebased or
// amended has the same authors as before. It changes nothing.
package authorship

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Blamer finds the authors of lines.
type Blamer struct {
	*projects.Desk
	addresses *addresses.Finder
	snapshots *snapshots.Taker
}

// New makes a Blamer.
func New(d *projects.Desk, a *addresses.Finder, s *snapshots.Taker) *Blamer {
	return &Blamer{Desk: d, addresses: a, snapshots: s}
}

// Blame says of each line of a file where it comes from.
func (b *Blamer) Blame(ctx context.Context, r missions.BlameRequest) (result missions.Blame, err error) {
	at, err := b.addresses.FindMoment(ctx, r.Caller, r.Moment, addresses.InAnyProject)
	if err != nil {
		return result, err
	}
	if result.Path, err = at.Mission.WorkspacePath(r.Caller, r.Path); err != nil {
		return result, err
	}
	seen, done, err := b.snapshots.ScratchView(at.Mission)
	if err != nil {
		return result, err
	}
	defer done()
	tree := at.Snapshot.Tree
	if r.Moment == "" && !at.Mission.IsWorkspaceGone() {
		if tree, _, err = b.snapshots.CapturePresent(ctx, seen); err != nil {
			return result, err
		}
	}
	store, done, err := scratchOf(seen.Project.Store)
	if err != nil {
		return result, err
	}
	defer done()
	content, entry, err := readText(store, tree, at.Mission.Name, r.Moment, result.Path)
	if err != nil {
		return result, err
	}
	g, err := b.readPast(ctx, seen, at.Snapshot.ID)
	if err != nil {
		return result, err
	}
	top := version{step: g.steps[at.Snapshot.ID], path: result.Path, blob: entry.ID}
	if top.step.snapshot.Tree != tree {
		top.step = g.present(top.step, tree)
	}
	lines := textLines(content)
	first, last := max(r.First, 1), len(lines)
	if r.Last > 0 {
		last = min(r.Last, last)
	}
	if first > max(last, 1) {
		return result, missions.Errorf(missions.KindUsage, "leave out -L", "%s has %d lines", result.Path, len(lines))
	}
	s := newSearch(ctx, g, store)
	defer s.close()
	origins, err := s.findOrigins(top, first, last)
	if err != nil {
		return result, err
	}
	result.Lines = []missions.BlamedLine{}
	for i := first; i <= last; i++ {
		line := origins[i]
		line.Line, line.Text = i, strings.TrimSuffix(strings.TrimSuffix(lines[i-1], "\n"), "\r")
		if line.Path == result.Path {
			line.Path = ""
		}
		result.Lines = append(result.Lines, line)
	}
	return result, nil
}

// scratchOf is a store to write to what only git is to see.
func scratchOf(s *shadow.Store) (scratch *shadow.Store, done func(), err error) {
	if s.IsScratch() {
		return s, func() {}, nil
	}
	scratch, err = s.Scratch()
	if err != nil {
		return nil, nil, missions.Errorf(missions.KindFailed, "set TMPDIR to a directory that can be written to", "%w", err)
	}
	return scratch, func() { _ = scratch.Close() }, nil // what it leaves behind is swept with the next one
}

// readText reads a file that has lines.
func readText(store *shadow.Store, tree gitstore.ID, mission, moment, path string) ([]byte, gitstore.TreeEntry, error) {
	where := "the workspace of " + mission
	if moment != "" {
		where = moment
	}
	entry, err := store.Lookup(tree, path)
	if errors.Is(err, gitstore.ErrNoEntry) {
		hint := "umbra log " + mission + " --path " + home.ShellQuote(path) + " finds a file that was there; ignored files are in no snapshot"
		return nil, entry, missions.Errorf(missions.KindNotFound, hint, "no file %s in %s", gitstore.QuotePath(path), where)
	}
	if err != nil {
		return nil, entry, err
	}
	if entry.Mode != gitstore.ModeFile && entry.Mode != gitstore.ModeExec {
		return nil, entry, missions.Errorf(missions.KindUsage, "name a file", "%s is no file with lines in %s", gitstore.QuotePath(path), where)
	}
	content, err := store.Blob(entry.ID)
	if err == nil && bytes.IndexByte(content, 0) >= 0 {
		err = missions.Errorf(missions.KindUsage, "umbra log "+mission+" --path "+home.ShellQuote(path)+" says when it changed", "%s is binary", gitstore.QuotePath(path))
	}
	return content, entry, err
}

// textLines are the lines of a file, with their ends.
func textLines(content []byte) (lines []string) {
	for line := range strings.Lines(string(content)) {
		lines = append(lines, line)
	}
	return lines
}
