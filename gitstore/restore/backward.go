package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

// backward takes back whatever was done, in the reverse order. What somebody
// else has changed meanwhile is left to them and reported. It goes on after an
// error: the more is back, the better.
func (r *run) backward() error {
	slots, err := r.inventory()
	if err != nil {
		return err
	}
	r.slots, r.resumed = slots, true
	var errs []error
	try := func(err error) { errs = append(errs, err) }
	try(r.unsetModes())
	try(r.openDirs())
	plan := &r.Document.Plan
	w := wholes{r}
	try(w.takeAway())
	try(r.makeRemoved(false))
	try(r.eachBack(single(func(c *Change) bool { return c.Action() == Delete && !c.Frees }), r.restoreDeleted))
	try(r.eachBack(single((*Change).writes), r.unwrite))
	for _, n := range slices.Backward(plan.Renames) {
		try(r.rename(n.inverse()))
	}
	for _, d := range slices.Backward(plan.MakeDirs) {
		_, err := r.removeDir(d)
		try(err)
	}
	try(r.makeRemoved(true))
	try(r.eachBack(single(func(c *Change) bool { return c.Action() == Delete && c.Frees }), r.restoreDeleted))
	try(w.takeBack())
	try(r.judge())
	for _, d := range plan.RemoveDirs {
		try(noteObstacle(r, d.Path, "permission bits", r.dressDir(d)))
	}
	try(r.closeDirs())
	try(r.syncChanged())
	return errors.Join(errs...)
}

// eachBack is each for the way back, on which one error does not stop the rest.
func (r *run) eachBack(ok func(c *Change) bool, fn func(i int) error) error {
	var errs []error
	for _, i := range r.indices(ok) {
		errs = append(errs, fn(i))
	}
	return errors.Join(append(errs, context.Background().Err())...)
}

func (r *run) unsetModes() error {
	var errs []error
	for _, i := range r.indices(func(c *Change) bool { return c.Action() == Chmod }) {
		at, err := r.where(i)
		if err == nil && at == atTarget {
			err = r.chmod(i, r.change(i).From)
		}
		errs = append(errs, err)
	}
	for _, m := range r.Document.Plan.DirModes {
		errs = append(errs, r.chmodDir(DirMode{Path: m.Path, From: m.To, To: m.From}))
	}
	return errors.Join(errs...)
}

// makeRemoved makes directories again that were removed.
func (r *run) makeRemoved(frees bool) error {
	var errs []error
	for _, d := range slices.Backward(r.Document.Plan.RemoveDirs) {
		if d.Frees == frees {
			errs = append(errs, r.makeDir(d))
		}
	}
	return errors.Join(errs...)
}

// restoreDeleted puts a file back that was taken away.
func (r *run) restoreDeleted(i int) error {
	path := r.change(i).Path
	f, err := inspect(r.Root, path)
	if err != nil {
		return err
	}
	if f.kind != nothing {
		if f.kind != content || !f.state.holds(r.change(i).From) {
			r.setLeft(i, ReasonChanged)
		}
		return nil
	}
	old, ok, err := r.original(i)
	if err == nil && !ok {
		if !r.lost {
			r.setLeft(i, ReasonChanged)
			return nil
		}
		old, err = r.revive(i)
	}
	if err != nil {
		return err
	}
	if err := r.step("undelete %s", path); err != nil {
		return err
	}
	failpoint.Hit("restore.undelete")
	return r.giveBack(i, old)
}

// giveBack returns what was displaced to its name, if that is free.
func (r *run) giveBack(i int, old spot) error {
	err := r.place(old, r.change(i).Path)
	switch {
	case err == nil:
		r.setDone(i)
		return nil
	case errors.Is(err, fs.ErrExist):
		r.setLeft(i, ReasonChanged)
		return nil
	case absent(err):
		r.setLeft(i, ReasonMoved)
		return nil
	}
	return fmt.Errorf("put %s back: %w", r.change(i).Path, err)
}

// unwrite takes back what was put at a path, if it is still there, and gives
// the path what was there before: S's content, or what a concurrent writer had
// put there since.
func (r *run) unwrite(i int) error {
	c := r.change(i)
	f, err := inspect(r.Root, c.Path)
	if err != nil {
		return err
	}
	old, ok, err := r.original(i)
	if err != nil {
		return err
	}
	if c.From != nil && !ok && (f.kind == nothing && r.lost || f.kind == content && f.state.holds(c.To) && !r.hasDisplaced(i)) {
		// It was lost, or whoever uses the workspace had deleted the file: that S is
		// put back whole is worth more than that it stays deleted.
		if old, err = r.revive(i); err != nil {
			return err
		}
		ok = true
	}
	switch {
	case f.kind == content && f.state.holds(c.To):
		return r.withdraw(i, old, ok)
	case f.kind == nothing && c.From != nil && ok:
		if err := r.step("put back %s", c.Path); err != nil {
			return err
		}
		return r.giveBack(i, old)
	case f.kind == nothing, f.kind == content && f.state.holds(c.From), f.kind == folder && c.From == nil:
		return nil
	}
	r.setLeft(i, ReasonChanged)
	return nil
}

func (r *run) withdraw(i int, old spot, ok bool) error {
	c := r.change(i)
	if err := r.step("withdraw %s", c.Path); err != nil {
		return err
	}
	failpoint.Hit("restore.withdraw")
	if c.From != nil && ok {
		err := beneath.Exchange(old.root, old.path, r.Root, c.Path)
		if !errors.Is(err, beneath.ErrNoExchange) {
			if err != nil && absent(err) {
				r.setLeft(i, ReasonChanged)
				return nil
			}
			r.setDone(i)
			return err
		}
	} else if c.From != nil {
		// What was there before had the same content.
		return nil
	}
	aside, err := r.displace(spot{r.Root, c.Path}, i)
	if err != nil {
		return r.notThere(i, err)
	}
	st, err := aside.root.Lstat(aside.path)
	if err != nil {
		return err
	}
	if !isContent(st) {
		r.setLeft(i, ReasonDirectory)
		return r.putBack(i, aside)
	}
	if c.From != nil {
		return r.giveBack(i, old)
	}
	r.setDone(i)
	return nil
}

// revive makes what S holds of a path, of which nothing that was displaced is left,
// among what was displaced.
func (r *run) revive(i int) (spot, error) {
	c, at := r.change(i), r.displacedSpot(i, reviving)
	if err := r.make(at, c.Path, c.To, c.From, true); err != nil {
		return at, fmt.Errorf("put %s back: %w", c.Path, err)
	}
	if err := r.step("revived %s", c.Path); err != nil {
		return at, err
	}
	return r.displace(at, i)
}

// hasDisplaced tells whether anything was taken from the path.
func (q *quarantine) hasDisplaced(i int) bool {
	return slices.ContainsFunc(q.slotsOf(i), func(s spot) bool {
		_, err := s.root.Lstat(s.path)
		return err == nil && !q.isStaged(i, s)
	})
}
