package fork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/gitdir"
)

// Reclaimed says what became of a workspace that was discarded.
type Reclaimed struct {
	// Moved says that the directory went back to its place in this call.
	Moved bool
	// Standing says that the workspace is in its place.
	Standing bool
	// Notes are sentences for the user: what is not as it was.
	Notes []string
}

// Reclaim takes Discard back: the directory goes from the trash, or from beside
// its place, back there, the worktree's entry back into the user's repository,
// and the branch that the entry stands on is made again if it is gone. The
// directory is known by its identity, so it is only ever renamed. Where something
// else is in its place that is a *TargetError, and nothing is done. It may be
// called again after it was interrupted, and for a workspace that was not
// discarded; when it returns, what it did is durable.
func Reclaim(ctx context.Context, doc Document, trash string) (Reclaimed, error) {
	var r Reclaimed
	if err := checkDocument(doc); err != nil {
		return r, err
	}
	if trash == "" || doc.Identity == (beneath.Identity{}) {
		return r, errors.New("reclaiming a fork: no trash directory, or no workspace")
	}
	var err error
	if r.Standing, err = doc.IsStanding(); err != nil {
		return r, err
	}
	if !r.Standing {
		if r.Moved, err = putBack(doc, trash); err != nil || !r.Moved {
			return r, err
		}
		r.Standing = true
	}
	if doc.CommonDir != "" {
		if err := r.joinRepository(ctx, doc, trash); err != nil {
			return r, fmt.Errorf("worktree of %s: %w", doc.Directory, err)
		}
	}
	_, err = Sync([]*Made{{Document: r.durable(doc)}})
	return r, err
}

// durable is the document without a repository that is gone.
func (r *Reclaimed) durable(doc Document) Document {
	if _, err := os.Stat(doc.CommonDir); err != nil {
		doc.CommonDir = ""
	}
	return doc
}

// putBack renames the directory to its place. It reports whether it was there to
// be renamed.
func putBack(doc Document, trash string) (bool, error) {
	from, err := discardedDirectory(doc, trash)
	if err != nil || from == "" {
		return false, err
	}
	taken := &TargetError{doc.Directory, "is there: something else has the place of " + from}
	if _, err := os.Lstat(doc.Directory); err == nil {
		return false, taken
	}
	if err := os.MkdirAll(filepath.Dir(doc.Directory), 0o777); err != nil {
		return false, err
	}
	err = renameNew(from, doc.Directory)
	if errors.Is(err, fs.ErrExist) || err != nil && notEmpty(err) {
		return false, taken
	}
	if err != nil {
		return false, err
	}
	return true, TakeLinks(trash, from)
}

// discardedDirectory finds where Discard has moved the directory, by its identity;
// "" if it is in none of those places.
func discardedDirectory(doc Document, trash string) (string, error) {
	places, err := namesIn(trash)
	if err != nil {
		return "", err
	}
	beside, err := namesIn(filepath.Dir(doc.Directory))
	if err != nil {
		return "", err
	}
	for _, path := range beside {
		if operation, _, ok := beneath.ParseScratch(filepath.Base(path)); ok && operation == doc.Operation {
			places = append(places, path)
		}
	}
	for _, path := range places {
		if st, err := os.Lstat(path); err != nil || !st.IsDir() {
			continue
		}
		moved := doc
		moved.Directory = path
		if is, err := moved.IsStanding(); err != nil || is {
			return path, err
		}
	}
	return "", nil
}

// namesIn lists the paths of what is in a directory, none if that is gone.
func namesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if vanished(err) {
		return nil, nil
	}
	var paths []string
	for _, e := range entries {
		paths = append(paths, filepath.Join(dir, e.Name()))
	}
	return paths, err
}

// joinRepository puts the worktree's entry back: the branch that it stands on is
// there before it is.
func (r *Reclaimed) joinRepository(ctx context.Context, doc Document, trash string) error {
	entry, err := discardedEntry(doc, trash)
	if err != nil || entry == "" {
		return err
	}
	if _, err := os.Stat(doc.CommonDir); vanished(err) {
		r.Notes = append(r.Notes, fmt.Sprintf("its repository is not in %s any more: the worktree's entry stays in %s", doc.CommonDir, entry))
		return nil
	}
	admin, err := entryOf(doc)
	if err != nil {
		return err
	}
	if admin != "" || ownEntry(doc) != "" {
		return beneath.RemoveTree(entry) // copied to its place by a call that was cut off
	}
	if err := r.remakeBranch(ctx, doc, entry); err != nil {
		return err
	}
	if admin, err = returnEntry(ctx, doc, entry); err != nil {
		return err
	}
	return r.relink(doc, admin)
}

// discardedEntry finds the worktree's entry in the trash: the one that is locked
// with the operation, or, if none is, the newest without a lock that leads to the
// directory; "" if there is none.
func discardedEntry(doc Document, trash string) (string, error) {
	paths, err := namesIn(trash)
	if err != nil {
		return "", err
	}
	unlocked := ""
	for _, path := range paths {
		if !IsEntry(path) {
			continue
		}
		reason, err := os.ReadFile(filepath.Join(path, "locked"))
		if err == nil && strings.TrimSpace(string(reason)) == lockReason(doc.Operation) {
			return path, nil
		}
		if vanished(err) && leadsTo(path, doc) && (unlocked == "" || newer(path, unlocked)) {
			unlocked = path
		}
	}
	return unlocked, nil
}

// IsEntry tells whether what lies in the trash is a worktree's entry: what Git needs for
// the workspace that lies beside it.
func IsEntry(path string) bool {
	_, err := os.Lstat(filepath.Join(path, "commondir"))
	return err == nil && strings.Contains(filepath.Base(path), ".worktree")
}

// leadsTo tells whether an entry in the trash led to the directory; a relative path
// is one from where the entry was.
func leadsTo(entry string, doc Document) bool {
	data, err := os.ReadFile(filepath.Join(entry, "gitdir"))
	if err != nil {
		return false
	}
	path := strings.TrimRight(string(data), "\r\n")
	if !filepath.IsAbs(path) {
		path = filepath.Join(doc.CommonDir, "worktrees", filepath.Base(entry), path)
	}
	return filepath.Dir(path) == doc.Directory
}

func newer(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && x.ModTime().After(y.ModTime())
}

// remakeBranch makes the fork's branch again where the entry in the trash stands
// on it and it is gone. One that another worktree is on by now is not taken from
// it: the entry names its commit instead.
func (r *Reclaimed) remakeBranch(ctx context.Context, doc Document, entry string) error {
	w := &worktree{branch: "refs/heads/" + doc.Branch}
	if on, err := holds(entry, w.branch); err != nil || !on {
		return err
	}
	var err error
	if w.git, err = openUserGit(ctx, doc.Operation, doc.CommonDir, ""); err != nil {
		return err
	}
	if w.commit, err = w.git.resolve(ctx, w.branch); err != nil {
		return err
	}
	if w.commit != "" {
		return r.leaveBranch(ctx, w, doc, entry)
	}
	for _, commit := range slices.Compact([]string{lastHead(entry), doc.Head}) {
		if commit == "" {
			continue
		}
		if have, err := w.git.present(ctx, []string{commit + "^{commit}"}); err != nil || !have[0] {
			if err != nil {
				return err
			}
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := w.git.run(context.WithoutCancel(ctx), nil, "update-ref", "--create-reflog", "-m", reflogMessage(doc.Operation),
			w.branch, commit, strings.Repeat("0", len(commit)))
		return err
	}
	if doc.Head != "" {
		r.Notes = append(r.Notes, "its branch "+doc.Branch+" could not be made again: the commit that it named is gone")
	}
	return nil
}

// leaveBranch has the entry name the branch's commit where another worktree is on
// the branch.
func (r *Reclaimed) leaveBranch(ctx context.Context, w *worktree, doc Document, entry string) error {
	used, err := w.checkedOut(ctx)
	if err != nil || !used {
		return err
	}
	commit := lastHead(entry)
	if commit == "" {
		commit = w.commit
	}
	r.Notes = append(r.Notes, fmt.Sprintf("branch %s is checked out elsewhere by now: the workspace's HEAD is detached, at %s", doc.Branch, short(commit)))
	return rewrite(filepath.Join(entry, "HEAD"), commit+"\n")
}

// lastHead is the commit that an entry's HEAD named last, by its reflog; "" if it
// has none.
func lastHead(entry string) string {
	data, err := os.ReadFile(filepath.Join(entry, "logs", "HEAD"))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	fields := strings.SplitN(lines[len(lines)-1], " ", 3)
	if len(fields) < 3 || !gitstore.IsCommitName(fields[1]) || strings.Trim(fields[1], "0") == "" {
		return ""
	}
	return fields[1]
}

// returnEntry moves the entry to where the directory's .git leads, or, if that is
// another worktree's by now, beside it. It returns where it is.
func returnEntry(ctx context.Context, doc Document, entry string) (string, error) {
	dir := filepath.Join(doc.CommonDir, "worktrees")
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	stem := filepath.Join(dir, filepath.Base(doc.Directory))
	if admin, err := adminOf(doc.Directory); err == nil && filepath.Dir(admin) == dir {
		stem = admin
	}
	from := entry
	for n := 0; ; n++ {
		place := stem
		if n > 0 {
			place = fmt.Sprintf("%s%d", stem, n)
		}
		err := renameNew(from, place)
		if crossDevice(err) && from == entry {
			// Git sees nothing of it before it is whole.
			from = filepath.Join(doc.CommonDir, dyingEntry(doc))
			if err = copyDiscarded(ctx, entry, from); err == nil {
				err = renameNew(from, place)
			}
		}
		if errors.Is(err, fs.ErrExist) && n < maxBranches {
			continue
		}
		if err == nil && from != entry {
			err = beneath.RemoveTree(entry)
		}
		return place, err
	}
}

// copyDiscarded copies an entry next to its place, anew if a call was cut off at that.
func copyDiscarded(ctx context.Context, entry, to string) error {
	if err := beneath.RemoveTree(to); err != nil {
		return err
	}
	return (&copier{}).copyGitDirectory(ctx, nested{gitDir: entry, lister: gitdir.Lister{Dir: entry}}, to)
}

// relink has the directory's .git lead to an entry that has another name now.
func (r *Reclaimed) relink(doc Document, admin string) error {
	was, err := adminOf(doc.Directory)
	if err != nil || was == admin {
		return nil // it is as it was
	}
	if _, err := os.Stat(filepath.Join(admin, "modules")); err == nil {
		r.Notes = append(r.Notes, fmt.Sprintf("the worktree's entry is %s now: the .git files of its submodules still name %s", admin, was))
	}
	return rewrite(filepath.Join(doc.Directory, ".git"), "gitdir: "+admin+"\n")
}

// rewrite replaces a file that only Reclaim writes: a lock on it is of a call that
// was cut off.
func rewrite(path, content string) error {
	if err := os.Remove(path + ".lock"); err != nil && !vanished(err) {
		return err
	}
	return replaceFile(path, []byte(content))
}
