package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// Shallow is the boundary that pruning leaves: commits whose parents are not all
// kept.
type Shallow map[ID]struct{}

// Shallow reads the repository's boundary; it is empty if nothing was pruned.
func (s *Store) Shallow() (Shallow, error) {
	data, err := disk.ReadFile(filepath.Join(s.dir, "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := Shallow{}
	for line := range bytes.Lines(data) {
		id, err := ParseID(string(bytes.TrimSpace(line)))
		if err != nil {
			return nil, fmt.Errorf("read shallow: %w", err)
		}
		out[id] = struct{}{}
	}
	return out, nil
}

// HistoryOptions bound a walk. Zero values do not bound.
type HistoryOptions struct {
	// Limit is the greatest number of commits given.
	Limit int
	// Since ends the walk before the first commit whose committer time is
	// earlier. Committer times never go back along first parents.
	Since time.Time
	// Until ends the walk after this commit.
	Until ID
}

// History gives the commits from tip along first parents, newest first, down to
// the root or the shallow boundary, whose commits are given without parents. It
// reads commits only. An error ends it.
func (s *Store) History(tip ID, opts HistoryOptions) iter.Seq2[*Commit, error] {
	return func(yield func(*Commit, error) bool) {
		shallow, err := s.Shallow()
		if err != nil {
			yield(nil, err)
			return
		}
		for n := 0; !tip.IsZero() && (opts.Limit <= 0 || n < opts.Limit); n++ {
			c, err := s.Commit(tip)
			if err != nil {
				yield(nil, err)
				return
			}
			if _, cut := shallow[tip]; cut {
				c.Parents = nil
			}
			if !opts.Since.IsZero() && c.Committer.When.Before(opts.Since) {
				return
			}
			if !yield(c, nil) || tip == opts.Until {
				return
			}
			tip = c.FirstParent()
		}
	}
}

// Snapshots is History with each commit parsed. It ends before a commit that is
// no snapshot.
func (s *Store) Snapshots(tip ID, opts HistoryOptions) iter.Seq2[*Snapshot, error] {
	return func(yield func(*Snapshot, error) bool) {
		for c, err := range s.History(tip, opts) {
			if err != nil {
				yield(nil, err)
				return
			}
			snap := ParseSnapshot(c)
			if snap.Mission == "" || !yield(snap, nil) {
				return
			}
		}
	}
}

// IsAncestor reports whether ancestor is tip or among its first parents.
func (s *Store) IsAncestor(ancestor, tip ID) (bool, error) {
	for c, err := range s.History(tip, HistoryOptions{Until: ancestor}) {
		if err != nil {
			return false, err
		}
		if c.ID == ancestor {
			return true, nil
		}
	}
	return false, nil
}
