package shadow

import (
	"iter"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
)

// HistoryOptions bound a walk. Zero values do not bound.
type HistoryOptions struct {
	// Limit is the greatest number of commits given.
	Limit int
	// Since ends the walk before the first commit whose committer time is
	// earlier. Committer times never go back along first parents.
	Since time.Time
	// Until ends the walk after this commit.
	Until gitstore.ID
}

// History gives the commits from tip along first parents, newest first, down to
// the root, over what is lost where a boundary says so. It reads commits only. An
// error ends it.
func (s *Store) History(tip gitstore.ID, opts HistoryOptions) iter.Seq2[*gitstore.Commit, error] {
	return func(yield func(*gitstore.Commit, error) bool) {
		if _, err := s.ReadBoundary(); err != nil {
			yield(nil, err)
			return
		}
		for n := 0; !tip.IsZero() && (opts.Limit <= 0 || n < opts.Limit); n++ {
			c, err := s.Commit(tip)
			if err != nil {
				yield(nil, err)
				return
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
func (s *Store) Snapshots(tip gitstore.ID, opts HistoryOptions) iter.Seq2[*gitstore.Snapshot, error] {
	return func(yield func(*gitstore.Snapshot, error) bool) {
		for c, err := range s.History(tip, opts) {
			if err != nil {
				yield(nil, err)
				return
			}
			snap := gitstore.ParseSnapshot(c)
			if snap.Mission == "" || !yield(snap, nil) {
				return
			}
		}
	}
}

// IsAncestor reports whether ancestor is tip or among its first parents.
func (s *Store) IsAncestor(ancestor, tip gitstore.ID) (bool, error) {
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
