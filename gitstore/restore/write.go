package restore

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// attempts is how often a step is begun anew because what is at its path
// keeps changing between a file and nothing.
const attempts = 100

// write creates or replaces one file. Whatever is at the path at that very
// moment goes into quarantine; nothing is overwritten (I8).
func (r *run) write(i int) error {
	c := r.change(i)
	if r.isLeft(i) {
		return nil
	}
	source, proceed, err := r.source(i)
	if err != nil || !proceed {
		return err
	}
	if err := r.Root.Verify(); err != nil {
		return err
	}
	for range attempts {
		again, err := r.writeFrom(i, source)
		if err != nil {
			return fmt.Errorf("%s %s: %w", c.Action(), c.Path, err)
		}
		if !again {
			return nil
		}
	}
	r.setLeft(i, ReasonAppeared)
	return nil
}

// source is where the content to be put in place lies. If a path is looked at
// first, it may also turn out that there is nothing to do.
func (r *run) source(i int) (spot, bool, error) {
	if !r.careful {
		return r.stagedSpot(i), true, nil
	}
	at, err := r.where(i)
	if err != nil {
		return spot{}, false, err
	}
	switch at {
	case atTarget:
		r.setDone(i)
		return spot{}, false, nil
	case elsewhere:
		r.setLeft(i, ReasonChanged)
		return spot{}, false, nil
	}
	s, ok, err := r.find(i, r.change(i).To)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", r.change(i).Path, errNotStaged)
	}
	return s, ok, err
}

// errNotStaged is why an operation that was killed can only go back.
var errNotStaged = errors.New("its content is not staged")

// writeFrom tries once, and says whether to try again.
func (r *run) writeFrom(i int, source spot) (again bool, err error) {
	c := r.change(i)
	l, err := lookAt(r.Root, c.Path)
	if err != nil {
		return false, err
	}
	switch {
	case l.why != "":
		r.setLeft(i, l.why)
		return false, nil
	case !l.there:
		return r.create(i, source)
	case c.From == nil && !c.Whole:
		r.setLeft(i, ReasonAppeared)
		return false, nil
	case !isContent(l.stat):
		r.setLeft(i, ReasonDirectory)
		return false, nil
	}
	return r.replace(i, source)
}

func isContent(st beneath.Stat) bool {
	return st.Kind() == beneath.File || st.Kind() == beneath.Symlink
}

func (r *run) create(i int, source spot) (again bool, err error) {
	path := r.change(i).Path
	if err := r.step("create %s", path); err != nil {
		return false, err
	}
	failpoint.Hit("restore.create")
	err = r.place(source, path)
	switch {
	case err == nil:
		failpoint.Hit("restore.created")
		r.setDone(i)
		return false, r.step("created %s", path)
	case errors.Is(err, fs.ErrExist):
		c := r.change(i)
		return c.From != nil || c.Whole, r.orLeave(i, ReasonAppeared)
	case absent(err):
		return r.gone(i, source)
	case !r.hasDisplaced(i) && leaveObstructed(r, i, err):
		return false, nil
	}
	return false, err
}

// orLeave leaves a path that nothing was expected at.
func (r *run) orLeave(i int, why Reason) error {
	if c := r.change(i); c.From == nil && !c.Whole {
		r.setLeft(i, why)
	}
	return nil
}

func (r *run) replace(i int, source spot) (again bool, err error) {
	path := r.change(i).Path
	if err := r.step("exchange %s", path); err != nil {
		return false, err
	}
	failpoint.Hit("restore.exchange")
	err = beneath.Exchange(source.root, source.path, r.Root, path)
	switch {
	case errors.Is(err, beneath.ErrNoExchange):
		return r.replaceInTwo(i, source)
	case err != nil && absent(err):
		// Gone, or a directory above is: another look tells.
		return r.gone(i, source)
	case err != nil && leaveObstructed(r, i, err):
		return false, nil
	case err != nil:
		return false, err
	}
	failpoint.Hit("restore.exchanged")
	if err := r.step("exchanged %s", path); err != nil {
		return false, err
	}
	st, err := source.root.Lstat(source.path)
	if err != nil {
		return false, err
	}
	if !isContent(st) {
		return false, r.swapBack(i, source)
	}
	if _, err := r.displace(source, i); err != nil {
		return false, err
	}
	failpoint.Hit("restore.replaced")
	r.setDone(i)
	return false, r.step("replaced %s", path)
}

// gone is after a rename that did not find one of its names. It tells a file
// that vanished, so that another try is due, from a directory that did, and
// both from content that should have been staged.
func (r *run) gone(i int, source spot) (again bool, err error) {
	if _, err := source.root.Lstat(source.path); err != nil {
		return false, err
	}
	_, there, err := statDir(r.Root, treepath.Parent(r.change(i).Path))
	if err != nil {
		return false, err
	}
	if !there {
		r.setLeft(i, ReasonMoved)
	}
	return there, nil
}

// replaceInTwo is for file systems without an exchange: the old file goes
// aside, and the new one takes the name if it is still free.
func (r *run) replaceInTwo(i int, source spot) (again bool, err error) {
	path := r.change(i).Path
	aside, err := r.displace(spot{r.Root, path}, i)
	if err != nil {
		if absent(err) {
			return r.gone(i, source)
		}
		if leaveObstructed(r, i, err) {
			err = nil
		}
		return false, err
	}
	st, err := aside.root.Lstat(aside.path)
	if err != nil {
		return false, err
	}
	if !isContent(st) {
		r.setLeft(i, ReasonDirectory)
		return false, r.putBack(i, aside)
	}
	return true, r.step("aside %s", path)
}

// swapBack gives a directory, or special file, that took the file's place in
// the last moment its name back.
func (r *run) swapBack(i int, at spot) error {
	r.setLeft(i, ReasonDirectory)
	path := r.change(i).Path
	err := beneath.Exchange(at.root, at.path, r.Root, path)
	if err != nil && absent(err) {
		return r.putBack(i, at)
	}
	return err
}

// putBack returns something to its name unless that is taken: then it stays in
// quarantine.
func (r *run) putBack(i int, at spot) error {
	err := r.place(at, r.change(i).Path)
	if err == nil || !errors.Is(err, fs.ErrExist) && !absent(err) {
		return err
	}
	if r.isStaged(i, at) {
		_, err = r.displace(at, i)
		return err
	}
	return nil
}

// remove takes one file away.
func (r *run) remove(i int) error {
	c := r.change(i)
	if r.careful {
		at, err := r.where(i)
		if err != nil {
			return err
		}
		if at == atTarget {
			r.setDone(i)
			return nil
		}
		if at == elsewhere {
			r.setLeft(i, ReasonChanged)
			return nil
		}
	}
	if err := r.Root.Verify(); err != nil {
		return err
	}
	l, err := lookAt(r.Root, c.Path)
	if err != nil {
		return err
	}
	if l.why != "" {
		r.setLeft(i, l.why)
		return nil
	}
	if l.there && !isContent(l.stat) {
		r.setLeft(i, ReasonDirectory)
		return nil
	}
	if err := r.step("delete %s", c.Path); err != nil {
		return err
	}
	failpoint.Hit("restore.delete")
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
	failpoint.Hit("restore.deleted")
	r.setDone(i)
	return r.step("deleted %s", c.Path)
}

// notThere is after a deletion that found nothing to take away.
func (r *run) notThere(i int, cause error) error {
	path := r.change(i).Path
	l, err := lookAt(r.Root, path)
	switch {
	case err != nil:
		return err
	case l.there && leaveObstructed(r, i, cause):
	case l.there || !absent(cause):
		return fmt.Errorf("delete %s: %w", path, cause)
	case errors.Is(cause, fs.ErrNotExist):
		r.setDone(i)
	default:
		r.setLeft(i, ReasonMoved)
	}
	return nil
}
