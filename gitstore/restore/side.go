package restore

import (
	"io"
	"os"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
)

// Side is a snapshot as its record describes it.
type Side struct {
	Tree gitstore.ID
	// Rules say what would have been captured; needed of a target only.
	Rules *documents.Rules
	// Skipped is what was left out, nil for nothing.
	Skipped *documents.SkippedSet
	// Modes is what the tree cannot hold, nil if it is not known.
	Modes *documents.Modes
}

// Objects is where plans and contents are read from: a *shadow.Store.
type Objects interface {
	DiffTrees(a, b gitstore.ID, fn func(gitstore.Change) error) error
	Lookup(tree gitstore.ID, path string) (gitstore.TreeEntry, error)
	Tree(id gitstore.ID) ([]gitstore.TreeEntry, error)
	WalkTree(tree gitstore.ID, fn func(path string, e gitstore.TreeEntry) error) error
	BlobReader(id gitstore.ID) (io.ReadCloser, int64, error)
	Has(id gitstore.ID) (bool, error)
}

// Disk is the workspace as a plan looks at it: a *beneath.Root.
type Disk interface {
	Lstat(path string) (beneath.Stat, error)
	ReadDir(path string) ([]beneath.Entry, error)
	Open(path string) (*os.File, beneath.Stat, error)
	Readlink(path string) (string, error)
	ObstacleToRename(path string) (beneath.Obstacle, error)
	ObstacleToChmod(path string) (beneath.Obstacle, error)
}

func (s *Side) skipped(path string) (documents.Reason, bool) {
	if s.Skipped == nil {
		return "", false
	}
	e, ok := s.Skipped.Covers(path)
	return e.Reason, ok
}

// closed tells why the snapshot says nothing of a path, not even that nothing is
// there: it could not be read, or lies below something that was left out whole, such
// as another worktree.
func (s *Side) closed(path string) (documents.Reason, bool) {
	if s.Skipped == nil {
		return "", false
	}
	e, ok := s.Skipped.Covers(path)
	return e.Reason, ok && (e.Path != path || e.Reason == documents.ReasonUnreadable)
}

func (s *Side) perm(path string, mode gitstore.Mode) documents.Perm {
	if s.Modes == nil {
		return documents.Perm{}
	}
	perm := s.Modes.Perm(path, mode)
	if bits, ok := perm.Known(); ok && mode != gitstore.ModeDir {
		// A set-id bit on content that comes from a record is nobody's wish.
		return documents.KnownPerm(bits & 0o777)
	}
	return perm
}

func (s *Side) empty() []string {
	if s.Modes == nil {
		return nil
	}
	return s.Modes.Empty
}

func (s *Side) state(path string, e gitstore.TreeEntry) *State {
	if e.ID.IsZero() {
		return nil
	}
	return &State{Mode: e.Mode, Blob: e.ID, Perm: s.perm(path, e.Mode)}
}
