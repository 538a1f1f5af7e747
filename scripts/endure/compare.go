package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// compare holds the newest snapshot against the tree that it must have. Only of
// what no event told it may still hold what was there before.
func (s *soak) compare(ctx context.Context, before, want string) error {
	tip, err := s.session.Tip(ctx)
	if err != nil {
		return err
	}
	got, err := s.session.Mission.Git(ctx, "rev-parse", tip+"^{tree}")
	if err != nil {
		return err
	}
	if got != want {
		wrong, err := s.differences(ctx, want, got)
		if err != nil || len(wrong) > 0 {
			return errors.Join(err, fmt.Errorf("the snapshot %s has the tree %s, and what was written the tree %s:\n%s", tip, got, want, strings.Join(wrong, "\n")))
		}
		s.lagged++
	}
	if tip != before {
		s.trees = append(s.trees, got)
	}
	return nil
}

// differences are the paths in which a tree is not what it must be, but for what
// may lag.
func (s *soak) differences(ctx context.Context, want, got string) ([]string, error) {
	// The snapshot's trees are in the shadow repository, the others in the oracle's.
	s.oracle.more = "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + filepath.Join(s.session.Mission.Shadow, "objects")
	diff, err := s.oracle.git(ctx, "written", nil, "diff-tree", "-r", "-z", "--no-renames", want, got)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(strings.TrimRight(diff, "\x00"), "\x00")
	var wrong []string
	for i := 0; i+1 < len(fields); i += 2 {
		// ":100644 100644 <wanted> <got> M", then the path
		is, path := strings.Fields(fields[i]), fields[i+1]
		if len(is) != 5 || !slices.Contains(s.world.lag[path], entry{is[1], is[3]}) {
			wrong = append(wrong, fields[i]+" "+path)
		}
	}
	return wrong, nil
}

// compareDisk holds what was written against what is on disk.
func (s *soak) compareDisk(ctx context.Context, want string) error {
	s.rehashes++
	got, err := s.oracle.rehashed(ctx)
	if err != nil || got == want {
		return err
	}
	clear(s.world.lag) // no snapshot is meant
	wrong, err := s.differences(ctx, want, got)
	return errors.Join(err, fmt.Errorf("the disk has the tree %s, and what was written the tree %s:\n%s", got, want, strings.Join(wrong, "\n")))
}
