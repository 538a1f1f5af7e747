package shadow

import "github.com/umbra-vcs/umbra/gitstore"

// Snapshot reads a snapshot commit. A commit without an Umbra-Mission trailer is
// no snapshot: ErrNotSnapshot.
func (s *Store) Snapshot(id gitstore.ID) (*gitstore.Snapshot, error) {
	c, err := s.Commit(id)
	if err != nil {
		return nil, err
	}
	snap := gitstore.ParseSnapshot(c)
	if snap.Mission == "" {
		return nil, gitstore.AboutObject(id, gitstore.ErrNotSnapshot)
	}
	return snap, nil
}

// WriteSnapshot adds a snapshot commit to the batch. At is raised to the first
// parent's time if it is earlier, since a clock set back would break history by
// time.
func (s *Store) WriteSnapshot(b *Batch, snap *gitstore.Snapshot) (gitstore.ID, error) {
	dated := *snap
	if parent := snap.Parent(); !parent.IsZero() {
		c, err := s.Commit(parent)
		if err != nil {
			return gitstore.ID{}, err
		}
		dated.At = gitstore.NotBefore(snap.At, c.Committer.When)
	}
	return b.Commit(gitstore.FormatSnapshot(&dated))
}
