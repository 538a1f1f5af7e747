package fork

import (
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// Source is the moment that is forked. The caller holds the source's workspace
// shared, so that nothing of Umbra's writes there meanwhile; the agent may.
type Source struct {
	Store *shadow.Store
	// Tree holds the workspace's files at the moment; zero if there were none.
	Tree gitstore.ID
	// Moment is what the moment's record says of its files.
	Moment
	// Rules and Skipped are those of the source's newest snapshot, not of the
	// moment: they tell the files of the live workspace that no snapshot holds
	// (ignored, over the cap, secret), which come along, from files made since
	// the moment, which do not. Skipped may be nil; Rules only without Live.
	Rules   *documents.Rules
	Skipped *documents.SkippedSet
	// Live is the source's workspace on disk, absolute; "" if it is gone.
	Live string
	// Identity is what the directory at Live must be; the zero value does not
	// prove it.
	Identity beneath.Identity
	// Bytes is how large the files of Tree are, for Progress; 0 if not known.
	Bytes int64
	// Known is what the newest capture of Live knew: a file that is as it was
	// then need not be read to know its content. The zero value knows nothing.
	Known capture.Known
	// Now says that the moment is the source's newest snapshot, just taken:
	// nested repositories come along then, their files and their .git being of
	// one moment.
	Now bool

	// Repo is the user's repository that Live is in, nil without one.
	Repo *usergit.Repository
	// Scope is the workspace's path below the repository's top level, "" if it
	// is the top level.
	Scope string
	// Head is the commit that HEAD named at the moment, "" if there was none;
	// Branch the branch's short name, "" if HEAD was detached.
	Head, Branch string
	// Unread is why Head could not be read at the moment, "" if it could be.
	Unread string
	// Ancestors are the first-parent ancestors of Head, newest first. Head
	// itself may be the first.
	Ancestors []string
	// Staged is how the index differed from Head's tree, by path and stage.
	Staged []Staged
}

// Moment is what a moment's record says of its files.
type Moment struct {
	// Modes is modes.json; nil if it is not known.
	Modes *documents.Modes
	// Then is what the moment's own snapshot left out: of these files a fork has what is
	// in the live workspace now, which may be other bytes. Nil if it is not known.
	Then *documents.SkippedSet
	// Rules are those that the moment's own snapshot was taken by; nil if they are not
	// known.
	Rules *documents.Rules
}

// leavesOut reports whether the moment's snapshot left a path out for what it is, or the
// newest one for want of room.
func (src *Source) leavesOut(path string) bool {
	if src.Then != nil {
		if s, covered := src.Then.Covers(path); covered && s.Reason != documents.ReasonWithheld {
			return true
		}
	}
	if src.Skipped == nil {
		return false
	}
	s, covered := src.Skipped.Covers(path)
	return covered && s.Reason == documents.ReasonBudget
}

// madeSince reports whether a file that is left out for what it is was not there at the
// moment: the moment's snapshot would have listed it.
func (src *Source) madeSince(path string, mode gitstore.Mode, size int64) (bool, error) {
	if src.Then == nil || src.Moment.Rules == nil {
		return false, nil
	}
	if _, then := src.Then.Covers(path); then {
		return false, nil
	}
	c := documents.Candidate{Mode: mode, Size: size}
	_, now, err := src.Rules.Eligible(path, c)
	if err != nil {
		return false, err
	}
	if src.Skipped != nil && now == "" {
		s, _ := src.Skipped.Covers(path)
		now = s.Reason
	}
	if !(documents.Skipped{Reason: now}).HasContent() {
		return false, nil
	}
	_, then, err := src.Moment.Rules.Eligible(path, c)
	return then != documents.ReasonIgnored && then != documents.ReasonReserved, err
}

// Staged is one entry of the user's index that differed from HEAD's tree.
type Staged struct {
	Path  string       // below the repository's top level
	Mode  usergit.Mode // 0 if the path was deleted from the index
	ID    usergit.ID   // as the user's repository names the content
	Stage int          // 1 to 3 in a conflict, else 0
	usergit.Flags
	// Blob is the content in the Store; zero if it could not be had. It is
	// asked for only if the user's repository no longer has the object.
	Blob gitstore.ID
}

// Target says what to make.
type Target struct {
	// Operation is a UUID in its canonical form, new for each fork. It marks
	// whatever is made, so that it can be told from what others made.
	Operation string
	// Directory is the absolute path of the new workspace, or of the whole
	// worktree that will hold it. It must not exist or be empty, and must not
	// lie in the source.
	Directory string
	// Name is the mission's name; the branch is umbra/<name>.
	Name string
	// CopyIgnored brings along what no snapshot holds: ignored files, those
	// over the cap, and secrets.
	CopyIgnored bool
	// Limit is how many bytes are copied, where the file system cannot share
	// them, before Make gives a *LimitError; 0 means no limit. Force ignores it.
	Limit int64
	Force bool
	// Trash is where the directory of a fork goes that could not be made, with what others
	// wrote there meanwhile: one in a directory that exists, made if it is needed.
	Trash string
	// Undone, if set, is told where that is now.
	Undone func(place string)
	// Progress, if set, is called from several goroutines, often.
	Progress func(Progress)
	// Record, if set, is given the document to undo the fork by: before
	// anything is made, and again whenever more is known. When it returns, the
	// document must be durable. An error ends the fork.
	Record func(Document) error
}

// Progress is how far a fork is. TotalBytes is 0 where Source.Bytes was.
type Progress struct {
	Files, TotalFiles int
	Bytes, TotalBytes int64
}

// LimitError is returned before anything was made, if copying the files that
// no snapshot holds would cost more than Target.Limit.
type LimitError struct {
	Files int
	Bytes int64
	Limit int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%d files that no snapshot holds would have to be copied, %d bytes, over the limit of %d",
		e.Files, e.Bytes, e.Limit)
}

// TargetError says why a directory cannot become a fork's workspace. Nothing
// was made.
type TargetError struct{ Directory, Reason string }

// ErrWorktreeNoted is in the error of a directory that is gone while the user's
// repository still has the entry of a worktree for it.
var ErrWorktreeNoted = errors.New("a worktree there is still in the list of git worktree")

func (e *TargetError) Error() string { return fmt.Sprintf("%s: %s", e.Directory, e.Reason) }

// Made is a fork's workspace.
type Made struct {
	// Workspace is the mission's; Worktree the directory that was made, which
	// holds the workspace or is it.
	Workspace string `json:"workspace"`
	Worktree  string `json:"worktree"`
	// Branch is the branch's short name and Head its commit; "" in a plain
	// directory.
	Branch string `json:"branch,omitempty"`
	Head   string `json:"head,omitempty"`
	// Fallback says that the commit of that moment is gone, and Head the nearest
	// ancestor that survives, or none; or that it is not known, and Head that of now.
	Fallback bool `json:"fallback,omitempty"`
	// Left is what could not come along, by path below the workspace.
	Left []Left `json:"left,omitempty"`
	// PointsIn are copied files, by path below the workspace, that name the
	// source's workspace and so lead back into it.
	PointsIn []string `json:"points_in,omitempty"`
	// LinksIn are links of the snapshot, by path below the workspace, that lead into the
	// source's workspace by its absolute path.
	LinksIn []string `json:"links_in,omitempty"`
	// Annexed is how many links of the snapshot lead into the object store of git-annex,
	// through a .git that is a directory.
	Annexed int `json:"annexed,omitempty"`
	// GitCrypt says that the worktree's configuration has a filter of git-crypt.
	GitCrypt bool `json:"git_crypt,omitempty"`
	// Withheld are files and directories, sorted and the topmost alone, that came along
	// and that no rule of the moment leaves out: see documents.ReasonWithheld.
	Withheld []string `json:"-"`
	// Placed are the entries of the snapshot as they are on disk now, for the
	// workspace's first capture (capture.PlacedScanner).
	Placed []capture.Placed `json:"-"`
	// Notes are sentences for the user.
	Notes []string `json:"notes,omitempty"`
	// Document is what Inspect, Discard and UndoDocument need; it is to be
	// stored with the mission.
	Document Document `json:"document"`
}

// Left is a path that could not come along, and why.
type Left struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Document describes what a fork makes outside Umbra's home, for taking it away
// again in another process. Paths are absolute. The zero Identity means that
// the directory had not been made when the document was written.
type Document struct {
	Version   int    `json:"version"`
	Operation string `json:"operation"`
	Directory string `json:"directory"`
	// Existed says that the directory was there, empty, before.
	Existed  bool             `json:"existed,omitempty"`
	Identity beneath.Identity `json:"identity"`
	// Born is when the directory was made, as beneath.Born tells.
	Born int64 `json:"born,omitempty"`
	// Parents are the directories above it that were missing, outermost first.
	Parents []string `json:"parents,omitempty"`
	// CommonDir is the user's repository; "" for a plain directory.
	CommonDir string `json:"common_dir,omitempty"`
	Branch    string `json:"branch,omitempty"`
	Head      string `json:"head,omitempty"`
	// Scope is the workspace's path below Directory.
	Scope string `json:"scope,omitempty"`
}

const documentVersion = 1

// Is reports whether the open directory is the one that was made. Its device may have
// another number since, as after a remount; its inode may be another directory's.
func (d Document) Is(root *beneath.Root) bool {
	now := root.Identity()
	born := beneath.Born(root.Path())
	if d.Born == 0 || born == 0 {
		return now == d.Identity
	}
	return now.Inode == d.Identity.Inode && born == d.Born
}

// workspace is the mission's workspace.
func (d Document) workspace() string { return joinPath(d.Directory, d.Scope) }
