package merge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// Sides are the trees of a merge: what both began from, and what became of it.
type Sides struct{ Base, Ours, Theirs gitstore.ID }

// Result is what a merge gives.
type Result struct {
	Tree gitstore.ID
	// Taken are the paths that the tree has otherwise than theirs, since only ours
	// changed them, or git merged both.
	Taken []string
	// Conflicts are the paths that both changed so that git can't merge them: the tree
	// has them as the preferred side has.
	Conflicts []string
}

// Trees merges. preferOurs says whose the paths are that conflict. What git makes of
// single files is durable in the store when it returns. The error is
// git.ErrNotInstalled, a *git.Error, the store's or the context's.
func Trees(ctx context.Context, s *shadow.Store, sides Sides, preferOurs bool) (Result, error) {
	switch {
	case sides.Ours == sides.Base || sides.Ours == sides.Theirs:
		return Result{Tree: sides.Theirs}, nil
	case sides.Theirs == sides.Base:
		return withTaken(s, Result{Tree: sides.Ours}, sides)
	}
	scratch, done, err := openScratch(s)
	if err != nil {
		return Result{}, fmt.Errorf("merge: %w", err)
	}
	defer done()
	m := merger{ctx: ctx, store: s, scratch: scratch, sides: sides}
	list, err := m.withoutDatabases()
	if err != nil {
		return Result{}, err
	}
	r, err := m.merge(preferOurs)
	if err != nil {
		return Result{}, err
	}
	preferred := sides.Theirs
	if preferOurs {
		preferred = sides.Ours
	}
	for _, d := range list {
		if d.open {
			r.Conflicts = append(r.Conflicts, d.files...)
		}
	}
	slices.Sort(r.Conflicts)
	if r.Tree, err = m.withDatabases(r.Tree, preferred, list); err != nil {
		return Result{}, err
	}
	return withTaken(s, r, sides)
}

// merge merges all that git is given.
func (m *merger) merge(preferOurs bool) (r Result, err error) {
	merged, conflicts, err := m.mergeTrees(m.sides)
	if err != nil {
		return Result{}, err
	}
	if len(conflicts) == 0 {
		r.Tree, err = m.storeMerged(merged)
	} else {
		r, err = m.mergePaths(preferOurs) // no conflict where both renamed a file: both names stay
	}
	return r, err
}

// openScratch is where git writes: a scratch of the store, or the store itself if it is
// one.
func openScratch(s *shadow.Store) (scratch *shadow.Store, done func(), err error) {
	if s.IsScratch() {
		return s, func() {}, nil
	}
	scratch, err = s.Scratch()
	if err != nil {
		return nil, nil, err
	}
	return scratch, func() { _ = scratch.Close() }, nil // the next scratch sweeps what is left of it
}

// withTaken lists what the result has of ours.
func withTaken(s *shadow.Store, r Result, sides Sides) (Result, error) {
	err := s.DiffTrees(sides.Theirs, r.Tree, func(c gitstore.Change) error {
		if !slices.ContainsFunc(r.Conflicts, func(at string) bool { return c.Path == at || strings.HasPrefix(c.Path, at+"/") }) {
			r.Taken = append(r.Taken, c.Path)
		}
		return nil
	})
	return r, err
}

// merger is one merge by git.
type merger struct {
	ctx     context.Context
	store   *shadow.Store
	scratch *shadow.Store
	sides   Sides
	driver  Driver
}

// mergeTrees has git merge into the scratch. The tree has marks of conflicts in the
// paths that conflict, which are sorted. git is given commits of the sides that have the base as their
// parent: version 2.38 takes no other base, and a mission's history may have been pruned.
func (m *merger) mergeTrees(sides Sides) (tree gitstore.ID, conflicts []Conflict, err error) {
	batch := m.scratch.NewBatch()
	defer batch.Discard()
	nobody := gitstore.Signature{Name: "Umbra", Email: "umbra@localhost", When: time.Unix(0, 0)}
	var commits []gitstore.ID
	for _, tree := range []gitstore.ID{sides.Base, sides.Ours, sides.Theirs} {
		id, err := batch.Commit(&gitstore.Commit{
			Tree: tree, Parents: commits[:min(1, len(commits))], Author: nobody, Committer: nobody, Message: "a side of a merge\n",
		})
		if err != nil {
			return tree, nil, err
		}
		commits = append(commits, id)
	}
	if err := batch.Flush(m.ctx); err != nil {
		return tree, nil, err
	}
	config, err := m.driver.config(m.scratch)
	if err != nil {
		return tree, nil, err
	}
	out, err := git.Run(m.ctx, git.Command{
		Dir: m.scratch.Dir(), GitDir: m.scratch.Dir(), Env: m.scratch.GitEnv(), Config: append(config, "merge.directoryRenames=false"),
		Args:  []string{"merge-tree", "--write-tree", "-z", "--no-messages", commits[1].String(), commits[2].String()},
		Group: m.driver.Name != "", // a driver that hangs ends with git
	})
	if failed, ok := errors.AsType[*git.Error](err); err != nil && (!ok || failed.ExitCode != 1) {
		return tree, nil, err
	}
	fields := strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
	if len(fields) == 0 {
		return tree, nil, fmt.Errorf("git merge-tree: %w", io.ErrUnexpectedEOF)
	}
	if tree, err = gitstore.ParseID(strings.TrimSpace(fields[0])); err != nil {
		return tree, nil, fmt.Errorf("git merge-tree: %w", err)
	}
	conflicts, err = parseConflicts(fields[1:])
	return tree, conflicts, err
}
