package restore

import (
	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/attributes"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
)

// State is a file or symbolic link at a path.
type State struct {
	Mode gitstore.Mode
	Blob gitstore.ID
	// Perm is the permission bits (0777), if they are known.
	Perm documents.Perm
	// Kept is what else the file had when a plan that took it away was carried out; nil
	// if that is not known.
	Kept *attributes.Kept
}

// holds tells whether the content is the same, that is kind and bytes.
func (s *State) holds(other *State) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.Blob == other.Blob && (s.Mode == gitstore.ModeSymlink) == (other.Mode == gitstore.ModeSymlink)
}

// Change is one path that is to be changed. From is what S holds and To what T
// holds there, nil for nothing.
type Change struct {
	Path     string
	From, To *State
	// Frees says that the deletion makes room for another change, and so comes
	// before it.
	Frees bool
	// Whole says that the file is one of a SQLite database, of which all are changed or
	// none. A file beside it that is in neither snapshot is among them, without states: it
	// is not to be there. One that is the same in both is made anew, since whoever has the
	// former open goes on writing to it.
	Whole bool
}

// differs tells whether the path holds something else afterwards.
func (c *Change) differs() bool {
	return !c.From.holds(c.To) || c.From != nil && c.From.Mode != c.To.Mode
}

// Action is what is done to a path.
type Action string

// The actions.
const (
	Create  Action = "create"
	Replace Action = "replace"
	Delete  Action = "delete"
	// Chmod changes permission bits and leaves the content alone.
	Chmod Action = "chmod"
)

// Action is what is done to the path.
func (c *Change) Action() Action {
	switch {
	case c.To == nil:
		return Delete
	case c.From == nil:
		return Create
	case c.From.holds(c.To) && !c.Whole:
		return Chmod
	}
	return Replace
}

// writes tells whether content is put at the path.
func (c *Change) writes() bool {
	a := c.Action()
	return a == Create || a == Replace
}

// Reason says why a path that differs is left as it is: one of a capture's
// reasons, one given by the caller, or one of these.
type Reason string

const (
	// ReasonIgnored: it was captured under the rules of one side only.
	ReasonIgnored = Reason(documents.ReasonIgnored)
	// ReasonAppeared is a file that was written since the safety snapshot.
	ReasonAppeared Reason = "appeared"
	// ReasonOccupied is a directory that holds what is kept, where the target
	// has a file.
	ReasonOccupied Reason = "occupied"
	// ReasonBlocked is a kept file or link where the target has a directory.
	ReasonBlocked Reason = "blocked"
	// ReasonRevealed is a file or directory that is ignored now, and would not be after
	// the restore puts ignore files back: the caller withholds it from the snapshots to
	// come.
	ReasonRevealed Reason = "revealed"
	// ReasonChanged is a path that is not any more as an operation left it.
	ReasonChanged Reason = "changed"
	// ReasonHostile is a name that no capture writes.
	ReasonHostile Reason = "hostile"
	// ReasonCollision is a path that the target holds twice.
	ReasonCollision Reason = "collision"
	// ReasonName is a name that the file system does not take.
	ReasonName Reason = "name"
	// ReasonGitlink is an entry that stands for another repository's commit.
	ReasonGitlink Reason = "gitlink"
	// ReasonWorkspace is a directory that is to stay as such: what was in it goes.
	ReasonWorkspace Reason = "workspace"
	// ReasonForbidden is a file or directory of somebody else, which this process may
	// not change. The other reasons of a beneath.Obstacle are like it.
	ReasonForbidden = Reason(beneath.Forbidden)
	// ReasonDatabase is a file of a SQLite database of which another file stays.
	ReasonDatabase Reason = "database"
	// ReasonUnreadable is a path that could not be looked at.
	ReasonUnreadable = Reason(documents.ReasonUnreadable)
)

// Kept is a path that is left as it is, with all that is below it but for
// ReasonWorkspace, and why.
type Kept struct {
	Path   string
	Reason Reason
}

// Directory is one that is made or removed. Perm is its permission bits
// (07777), if they are known.
type Directory struct {
	Path string
	Perm documents.Perm
	// Frees says that its removal makes room for a file.
	Frees bool
	// Kept is that of a State.
	Kept *attributes.Kept
}

// DirMode is a directory that is to get other permission bits (07777).
type DirMode struct {
	Path     string
	From, To uint32
}

// Rename is a name whose letters change without its becoming another file: on
// a file system that does not tell the two apart.
type Rename struct {
	From, To string
}
