package restore

import (
	"context"
	"errors"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// Apply carries a plan out, from phase Staging to phase Applied. The entry's
// document is durable. Without an error all is done but for what the outcome
// says was left. A *Failure is returned if something failed once changes had
// begun: what had been done is taken back then. Whatever the error, the caller
// ends with the entry's Finish, unless Failure.Back says that not all could be
// put back: then the entry stays as it is, for Recover.
func (w *Work) Apply(ctx context.Context) (*Outcome, error) {
	if err := w.Stage(ctx); err != nil {
		return nil, err
	}
	// Nothing happens between the two: once everything is staged there is one
	// thing less to wait for.
	if err := w.Entry.Advance(journal.Staged, journal.Applying); err != nil {
		return nil, w.abandon(err)
	}
	r, err := w.begin()
	if err != nil {
		return nil, err
	}
	defer r.end()
	return r.carryOut(ctx)
}

// abandon takes back what Stage did.
func (w *Work) abandon(cause error) error {
	r, err := w.begin()
	if err != nil {
		return errors.Join(cause, err)
	}
	defer r.end()
	return errors.Join(cause, r.unstage())
}

// carryOut goes forward and, where that fails, back.
func (r *run) carryOut(ctx context.Context) (*Outcome, error) {
	cause := r.forward(ctx)
	if cause == nil {
		// A power cut that loses this finds every path at its target.
		failpoint.Hit("restore.synced")
		cause = r.Entry.AdvanceVolatile(journal.Applied)
	}
	if cause == nil {
		return r.result(), nil
	}
	back, err := r.Work.begin()
	if err != nil {
		return nil, &Failure{Cause: cause, Back: err, Outcome: r.result()}
	}
	defer back.end()
	err = back.backward()
	return nil, &Failure{Cause: cause, Back: err, Outcome: back.result()}
}

// forward is the whole of the changes, in the order of the rules: names are
// freed, directories made, files written, other files taken away, directories
// that are empty by then removed, modes set.
func (r *run) forward(ctx context.Context) error {
	if err := r.openDirs(); err != nil {
		return err
	}
	w := wholes{r}
	if err := w.setAside(); err != nil {
		return err
	}
	if err := r.free(ctx); err != nil {
		return err
	}
	for _, n := range r.Document.Plan.Renames {
		if err := noteObstacle(r, n.From, "the spelling "+n.To, r.rename(n)); err != nil {
			return err
		}
	}
	for _, d := range r.Document.Plan.MakeDirs {
		if err := noteObstacle(r, d.Path, "the directory", r.makeDir(d)); err != nil {
			return err
		}
	}
	if err := r.each(ctx, r.indices(single((*Change).writes)), r.write); err != nil {
		return err
	}
	if err := w.put(); err != nil {
		return err
	}
	deletions := r.indices(single(func(c *Change) bool { return c.Action() == Delete && !c.Frees }))
	if err := r.each(ctx, deletions, r.remove); err != nil {
		return err
	}
	for _, d := range r.Document.Plan.RemoveDirs {
		if d.Frees {
			continue
		}
		if _, err := r.removeDir(d); err != nil {
			return err
		}
	}
	if err := r.Root.Verify(); err != nil {
		return err
	}
	if err := r.judge(); err != nil {
		return err
	}
	if err := r.setModes(); err != nil {
		return err
	}
	return r.syncChanged()
}

// free makes room: for directories where files are, and for files where
// directories are. If somebody has put something into such a directory
// meanwhile, all that was in it is put back.
func (r *run) free(ctx context.Context) error {
	deletions := r.indices(single(func(c *Change) bool { return c.Action() == Delete && c.Frees }))
	if err := r.each(ctx, deletions, r.remove); err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, d := range r.Document.Plan.RemoveDirs {
		if !d.Frees {
			continue
		}
		gone, err := r.removeDir(d)
		if err != nil {
			return err
		}
		if !gone {
			if top, ok := r.cleared(d.Path); ok {
				kept[top] = true
			}
		}
	}
	for top := range kept {
		if err := r.unfree(top); err != nil {
			return err
		}
	}
	return nil
}

// cleared is the path of the file that a directory makes room for, if that is
// still to be written.
func (r *run) cleared(dir string) (string, bool) {
	for ; dir != ""; dir = treepath.Parent(dir) {
		if c, ok := r.Document.Plan.change(dir); ok && c.To != nil {
			found, err := inspect(r.Root, dir)
			if r.careful && err == nil && found.kind == content {
				return "", false
			}
			return dir, true
		}
	}
	return "", false
}

// unfree keeps a whole directory that a file was to take the place of.
func (r *run) unfree(top string) error {
	for _, d := range slices.Backward(r.Document.Plan.RemoveDirs) {
		if d.Frees && treepath.Covers(top, d.Path) {
			if err := errors.Join(r.makeDir(d), r.dressDir(d)); err != nil {
				return err
			}
		}
	}
	inside := r.indices(func(c *Change) bool { return treepath.Covers(top, c.Path) })
	for _, i := range slices.Backward(inside) { // a database comes after its logs
		c := r.change(i)
		if c.Whole && !c.differs() && !r.hasDisplaced(i) {
			continue
		}
		if c.Action() == Delete {
			if err := r.restoreDeleted(i); err != nil {
				return err
			}
		}
		r.setLeft(i, ReasonOccupied)
	}
	return nil
}

// changedSince leaves a path alone, if paths are looked at first, at which there
// is something else than was planned for.
func (r *run) changedSince(i int) (bool, error) {
	if !r.careful {
		return false, nil
	}
	at, err := r.where(i)
	if err != nil || at != elsewhere {
		return false, err
	}
	r.setLeft(i, ReasonChanged)
	return true, nil
}

func (r *run) setModes() error {
	for _, i := range r.indices(func(c *Change) bool { return c.Action() == Chmod }) {
		if theirs, err := r.changedSince(i); theirs || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if err := r.chmod(i, r.change(i).To); err != nil {
			return err
		}
	}
	for _, d := range slices.Backward(r.Document.Plan.MakeDirs) {
		if err := noteObstacle(r, d.Path, "permission bits", r.dressDir(d)); err != nil {
			return err
		}
	}
	if err := r.closeDirs(); err != nil {
		return err
	}
	for _, m := range r.Document.Plan.DirModes {
		if err := noteObstacle(r, m.Path, "permission bits", r.chmodDir(m)); err != nil {
			return err
		}
	}
	return nil
}

// syncChanged makes the names in the directories that were touched durable.
func (r *run) syncChanged() error {
	if err := r.step("sync"); err != nil {
		return err
	}
	failpoint.Hit("restore.sync")
	dirs := map[string]bool{}
	for i := range r.Document.Plan.Changes {
		if !r.isLeft(i) {
			dirs[treepath.Parent(r.change(i).Path)] = true
		}
	}
	for _, d := range slices.Concat(r.Document.Plan.MakeDirs, r.Document.Plan.RemoveDirs) {
		dirs[treepath.Parent(d.Path)] = true
	}
	if canSyncFileSystem && len(dirs) > syncEach {
		return errors.Join(syncFileSystem(r.Root.Path()), r.syncEntry())
	}
	for dir := range dirs {
		if err := r.Root.SyncDir(dir); err != nil && !absent(err) {
			return err
		}
	}
	return r.syncEntry()
}

func (q *quarantine) syncEntry() error {
	if q.displaced == nil {
		return nil
	}
	return q.displaced.SyncDir("")
}
