package fork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/gitdir"
)

// Discarded says where the parts of a fork's workspace are now.
type Discarded struct {
	// Directory is where the workspace was moved: in the trash, or beside its
	// old place if the trash is on another file system; "" if it was gone or
	// is not the one that was made.
	Directory string `json:"directory,omitempty"`
	// Entry is where the worktree's entry of the user's repository was moved,
	// with its reflog and the git directories of its submodules.
	Entry string `json:"entry,omitempty"`
	// Kept are branches that stay since they hold commits of their own, or are
	// in use.
	Kept []string `json:"kept,omitempty"`
}

// Discard parts with a fork's workspace for good: it moves the directory and
// the worktree's entry into trash, and deletes the branch if every commit of it
// is reachable from another ref. Nothing is lost that Inspect does not list,
// and what it lists is in trash or on a branch. It may be called again after it
// was interrupted. A worktree that the user moved is a *TargetError.
func Discard(ctx context.Context, doc Document, trash string) (Discarded, error) {
	var d Discarded
	if err := checkDocument(doc); err != nil {
		return d, err
	}
	if trash == "" || doc.Identity == (beneath.Identity{}) {
		return d, errors.New("discard of a fork: no trash directory, or no workspace")
	}
	there, err := doc.IsStanding()
	if err != nil {
		return d, err
	}
	var w *worktree
	if doc.CommonDir != "" {
		if w, err = openWorktree(ctx, doc, there); err != nil {
			return d, err
		}
	}
	if err := d.notMoved(doc, w); err != nil {
		return d, err
	}
	if w != nil {
		if err := d.save(ctx, w); err != nil {
			return d, fmt.Errorf("commits of %s: %w", doc.Directory, err)
		}
	}
	kept := doc
	kept.Existed = false
	if d.Directory, err = takeDirectory(kept, trash); err != nil {
		return d, fmt.Errorf("move %s to the trash: %w", doc.Directory, err)
	}
	if w == nil {
		return d, takeParents(doc)
	}
	if err := d.leaveRepository(ctx, doc, w, trash); err != nil {
		return d, fmt.Errorf("worktree of %s: %w", doc.Directory, err)
	}
	return d, takeParents(doc)
}

// notMoved refuses where the entry leads to another directory, which then is
// the workspace.
func (d *Discarded) notMoved(doc Document, w *worktree) error {
	if w == nil || w.admin == "" {
		return nil
	}
	now, err := directoryOf(w.admin)
	if vanished(err) || err == nil && now == doc.Directory {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Lstat(now); err != nil {
		return nil
	}
	return &TargetError{doc.Directory, "was moved to " + now}
}

// save keeps the commits that only the worktree's HEAD reaches.
func (d *Discarded) save(ctx context.Context, w *worktree) error {
	saved, err := w.save(ctx)
	if saved != "" {
		d.Kept = append(d.Kept, saved)
	}
	return err
}

// leaveRepository takes the entry and the branch out of the user's repository.
func (d *Discarded) leaveRepository(ctx context.Context, doc Document, w *worktree, trash string) error {
	var err error
	if w.admin != "" {
		if d.Entry, err = moveEntry(ctx, doc, w.admin, trash); err != nil {
			return err
		}
		// The worktree's own view ended with its entry.
		if w.git, err = openUserGit(ctx, doc.Operation, doc.CommonDir, ""); err != nil {
			return err
		}
	}
	gone, err := w.removeBranch(ctx)
	if err == nil && !gone {
		d.Kept = append(d.Kept, doc.Branch)
	}
	return err
}

// moveEntry moves a worktree's entry into trash, by copying if that is on
// another file system.
func moveEntry(ctx context.Context, doc Document, admin, trash string) (string, error) {
	for n := 1; ; n++ {
		place := filepath.Join(trash, filepath.Base(doc.Directory)+".worktree")
		if n > 1 {
			place = fmt.Sprintf("%s-%d", place, n)
		}
		err := renameNew(admin, place)
		if crossDevice(err) {
			err = copyEntry(ctx, admin, place)
		}
		if errors.Is(err, fs.ErrExist) && n < maxBranches {
			continue
		}
		if err != nil {
			return "", err
		}
		return place, emptied(os.Remove(filepath.Dir(admin)))
	}
}

func copyEntry(ctx context.Context, admin, place string) error {
	if err := (&copier{}).copyGitDirectory(ctx, nested{gitDir: admin, lister: gitdir.Lister{Dir: admin}}, place); err != nil {
		return err
	}
	return beneath.RemoveTree(admin)
}
