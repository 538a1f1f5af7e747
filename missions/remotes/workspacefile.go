package remotes

import (
	"path"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/transfer"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// workspaceFile is a file of a workspace that is about to leave: one of a snapshot, or one
// that was staged, which a record has.
type workspaceFile struct {
	path   string // "" of what is no file of a workspace
	commit gitstore.ID
	staged string // its mode, as the record has it
}

// heldFiles are what a commit says of the files that it holds.
type heldFiles struct {
	commit     gitstore.ID
	isSnapshot bool
	staged     map[string]snapshots.StagedItem // of a record, by the path there
}

// fileOf tells which file of a workspace an object is. Git names a content once, by the
// oldest commit that holds it: of what was staged that is the record of its snapshot.
func (s *search) fileOf(o transfer.Object) workspaceFile {
	if s.held.commit != o.Commit {
		snap, err := s.project.Store.Snapshot(o.Commit)
		s.held = heldFiles{commit: o.Commit, isSnapshot: err == nil && !snap.Record.IsZero()}
	}
	if s.held.isSnapshot {
		return workspaceFile{path: o.Path, commit: o.Commit}
	}
	if path.Dir(o.Path) != snapshots.StagedBlobs {
		return workspaceFile{}
	}
	if s.held.staged == nil {
		s.held.staged = map[string]snapshots.StagedItem{}
		list, _ := snapshots.StagedIn(s.project, o.Commit) // what can't be read has no names
		for _, item := range list {
			s.held.staged[path.Join(snapshots.StagedBlobs, item.ID)] = item
		}
	}
	item := s.held.staged[o.Path]
	return workspaceFile{path: item.Path, commit: o.Commit, staged: item.Mode}
}

// isLink reports whether the file is a symbolic link.
func (f workspaceFile) isLink(s *search) bool {
	if f.staged != "" {
		return f.staged == gitstore.ModeSymlink.String()
	}
	commit, err := s.project.Store.Commit(f.commit)
	if err != nil {
		return false
	}
	entry, err := s.project.Store.Lookup(commit.Tree, f.path)
	return err == nil && entry.Mode == gitstore.ModeSymlink
}
