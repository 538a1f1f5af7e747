package fork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/git"
)

// outlive is how long UndoDocument waits for a git process that a killed fork
// left behind.
const outlive = 30 * time.Second

// UndoDocument takes away what a fork made that never came to its end, with
// whatever was written there since: the directory goes into trash (an existing
// directory), or beside its place under a name of Umbra's if trash is on
// another file system. It touches only what is shown to be that fork's, by
// device and inode or by the operation in its marks, and may be called any
// number of times. The zero Document stands for a fork of which nothing was
// made.
func UndoDocument(ctx context.Context, doc Document, trash string) error {
	if doc.Version == 0 && doc.Operation == "" && doc.Directory == "" {
		return nil // killed before anything was described, and so made
	}
	if trash == "" {
		return errors.New("undo of a fork: no trash directory")
	}
	_, err := undo(ctx, doc, trash)
	return err
}

// undo returns where the directory is now, "" if nothing was in it.
func undo(ctx context.Context, doc Document, trash string) (string, error) {
	if err := checkDocument(doc); err != nil {
		return "", err
	}
	if err := outwait(ctx, doc.Operation); err != nil {
		return "", err
	}
	var failed []error
	place, err := takeDirectory(doc, trash)
	if err != nil {
		failed = append(failed, err)
	}
	failpoint.Hit("fork.undo.directory")
	if doc.CommonDir != "" && len(failed) == 0 {
		if err := takeWorktree(ctx, doc); err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) == 0 {
		failed = append(failed, takeParents(doc))
	}
	if err := errors.Join(failed...); err != nil {
		return place, fmt.Errorf("undo of the fork in %s: %w", doc.Directory, err)
	}
	return place, nil
}

func checkDocument(doc Document) error {
	if doc.Version != documentVersion {
		return fmt.Errorf("description of a fork: version %d is not known", doc.Version)
	}
	if _, _, ok := beneath.ParseScratch(beneath.ScratchName(doc.Operation, 0)); !ok || !filepath.IsAbs(doc.Directory) {
		return errors.New("description of a fork: it is malformed")
	}
	return nil
}

// takeDirectory takes away the directory if it is the one that was made, and
// returns where it is now.
func takeDirectory(doc Document, trash string) (string, error) {
	root, err := beneath.Open(doc.Directory)
	if vanished(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	is := doc.Is(root)
	root.Close()
	if doc.Identity == (beneath.Identity{}) {
		// It was to be made, and maybe was; nothing was put into it.
		if doc.Existed {
			return "", nil
		}
		return "", emptied(os.Remove(doc.Directory))
	}
	if !is {
		return "", nil
	}
	st, err := os.Lstat(doc.Directory)
	if err != nil || !st.IsDir() {
		return "", err
	}
	if names, err := os.ReadDir(doc.Directory); err == nil && len(names) == 0 {
		if doc.Existed {
			return "", nil
		}
		if err := os.Remove(doc.Directory); !notEmpty(err) {
			return "", err
		}
	}
	place, err := moveAside(doc.Directory, trash, doc.Operation)
	if err == nil && doc.Existed {
		err = os.Mkdir(doc.Directory, st.Mode().Perm())
	}
	return place, err
}

// emptied passes over that a directory is gone or in use.
func emptied(err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) || notEmpty(err) {
		return nil
	}
	return err
}

// moveAside renames a directory into trash, or, if that is on another file system, beside
// its place: then a link in the trash says where it is.
func moveAside(dir, trash, operation string) (string, error) {
	if err := os.MkdirAll(trash, 0o700); err != nil {
		return "", err
	}
	stem := filepath.Base(dir)
	for n := 0; ; n++ {
		name := stem
		if n > 0 {
			name = fmt.Sprintf("%s-%d", stem, n+1)
		}
		place := filepath.Join(trash, name)
		err := renameNew(dir, place)
		if crossDevice(err) {
			place = filepath.Join(filepath.Dir(dir), beneath.ScratchName(operation, n))
			err = moveBeside(dir, place, filepath.Join(trash, name))
		}
		if !errors.Is(err, fs.ErrExist) || n == maxBranches {
			return place, err
		}
	}
}

// moveBeside renames a directory to a place on its own file system. First a link in the
// trash leads there, so that no kill leaves it unlisted.
func moveBeside(dir, place, link string) error {
	if _, err := os.Lstat(place); err == nil {
		return fs.ErrExist
	}
	if err := os.Symlink(place, link); err != nil {
		return err
	}
	err := renameNew(dir, place)
	if err != nil {
		err = errors.Join(err, os.Remove(link))
	}
	return err
}

// TakeLinks removes from the trash the links to a place where nothing is any more.
func TakeLinks(trash, place string) error {
	links, err := namesIn(trash)
	if err != nil {
		return err
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == place {
			if err := os.Remove(link); err != nil && !vanished(err) {
				return err
			}
		}
	}
	return nil
}

// takeParents removes the directories that were made for the workspace, unless
// something else is in them by now.
func takeParents(doc Document) error {
	for n := len(doc.Parents) - 1; n >= 0; n-- {
		if err := os.Remove(doc.Parents[n]); err != nil {
			return emptied(err)
		}
	}
	return nil
}

// takeWorktree removes the branch and the entry of the worktree: in this order,
// since each tells that the branch is the fork's, and git, if it is killed while
// it deletes the branch, has deleted its reflog.
func takeWorktree(ctx context.Context, doc Document) error {
	if _, err := os.Stat(doc.CommonDir); vanished(err) {
		return nil
	}
	admin, err := entryOf(doc)
	if err != nil {
		return err
	}
	if doc.Branch != "" {
		if err := takeBranch(ctx, doc, admin); err != nil {
			return err
		}
	}
	failpoint.Hit("fork.undo.branch")
	if admin == "" {
		// A git that failed to make the entry has taken it away, but not what holds it.
		return emptied(os.Remove(filepath.Join(doc.CommonDir, "worktrees")))
	}
	return removeEntry(doc, admin)
}

// takeBranch deletes the branch if it is the fork's and as it was made: its
// reflog says so, or, where it has none, the worktree's entry, "" if that is gone.
func takeBranch(ctx context.Context, doc Document, admin string) error {
	g := &userGit{operation: doc.Operation, gitDir: doc.CommonDir}
	ref := "refs/heads/" + doc.Branch
	out, err := g.run(ctx, nil, "reflog", "show", "--format=%gs", ref)
	if failed := (*git.Error)(nil); errors.As(err, &failed) {
		return takeLock(ctx, doc) // there is no such branch
	}
	if err != nil {
		return err
	}
	messages := strings.Split(strings.TrimSpace(string(out)), "\n")
	switch messages[len(messages)-1] {
	case reflogMessage(doc.Operation):
	case "":
		if held, err := holds(admin, ref); err != nil || !held {
			return err
		}
	default:
		return nil // somebody else's
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := takeLock(ctx, doc); err != nil {
		return err
	}
	// Let end what has begun: git deletes the reflog first.
	_, err = g.run(context.WithoutCancel(ctx), nil, "update-ref", "-d", ref, doc.Head)
	if refused(err, "cannot lock ref") && !refused(err, ".lock': File exists") {
		return nil // it has moved: what it holds is somebody's work
	}
	return err
}

// lockHeld is longer than git holds the lock of a branch: it waits for a second for that
// of packed-refs, at the most, and holds the branch's meanwhile.
const lockHeld = 2 * time.Second

// takeLock removes the lock of the fork's branch that a git has left which was killed as
// it made or deleted it. One of the fork's that runs was waited for (outwait), so that it
// is somebody else's only if that one makes the same branch in this moment: then it holds
// something else, or goes within lockHeld. A lock of packed-refs that was left, too, is
// the whole repository's: it stays, and git says so.
func takeLock(ctx context.Context, doc Document) error {
	path := filepath.Join(doc.CommonDir, "refs", "heads", filepath.FromSlash(doc.Branch)+".lock")
	found, err := os.Lstat(path)
	for began := time.Now(); err == nil && time.Since(began) < lockHeld; {
		if err := pause(ctx, 4); err != nil {
			return err
		}
		var now fs.FileInfo
		now, err = os.Lstat(path)
		if err == nil && (!os.SameFile(now, found) || !now.ModTime().Equal(found.ModTime())) {
			return nil
		}
	}
	held := []byte(nil)
	if err == nil {
		held, err = os.ReadFile(path)
	}
	if id := strings.TrimSpace(string(held)); err == nil && (id == "" || id == doc.Head) {
		err = os.Remove(path)
	}
	if vanished(err) {
		return nil
	}
	return err
}

// holds reports whether a worktree's entry has a ref as its HEAD; "" has none.
func holds(admin, ref string) (bool, error) {
	if admin == "" {
		return false, nil
	}
	head, err := os.ReadFile(filepath.Join(admin, "HEAD"))
	if vanished(err) {
		return false, nil
	}
	return err == nil && strings.TrimSpace(string(head)) == "ref: "+ref, err
}

// entryOf finds the worktree's entry in the user's repository: the one that is
// locked with the operation, or that leads to the directory which was proved
// to be the fork's. It is "" if there is none.
func entryOf(doc Document) (string, error) {
	dir := filepath.Join(doc.CommonDir, "worktrees")
	entries, err := os.ReadDir(dir)
	if vanished(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if e.Name() == dyingEntry(doc) {
			return filepath.Join(dir, e.Name()), nil
		}
		reason, err := os.ReadFile(filepath.Join(dir, e.Name(), "locked"))
		if err == nil && strings.TrimSpace(string(reason)) == lockReason(doc.Operation) {
			return filepath.Join(dir, e.Name()), nil
		}
		if err != nil && !vanished(err) {
			return "", err
		}
	}
	return "", nil
}

// dyingEntry is what a worktree's entry is called while its files are deleted, by
// which it is known when that is cut off and the file is gone that says whose it is.
func dyingEntry(doc Document) string { return beneath.ScratchName(doc.Operation, 0) }

// removeEntry deletes a worktree's entry, and the directory of all of them if
// it was the last, as git does.
func removeEntry(doc Document, admin string) error {
	dying := filepath.Join(filepath.Dir(admin), dyingEntry(doc))
	if admin != dying {
		if err := os.Rename(admin, dying); err != nil {
			return err
		}
		failpoint.Hit("fork.undo.entry")
	}
	if err := beneath.RemoveTree(dying); err != nil {
		return err
	}
	return emptied(os.Remove(filepath.Dir(admin)))
}
