package restore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/databases"
)

// errDatabase is why an operation goes back that has put back a part of a database.
var errDatabase = errors.New("something is in the way of a database's file")

// wholes carries out what is planned for SQLite databases. A process may be killed
// anywhere, and the next one to open the database puts into it whatever log lies beside
// it. So the database is the first of its files to go and the last to come: it is never
// there with a log of another moment, nor without one of its own.
type wholes struct{ *run }

func whole(c *Change) bool { return c.Whole }

// single tells of the changes that are not of a database.
func single(ok func(c *Change) bool) func(c *Change) bool {
	return func(c *Change) bool { return !c.Whole && ok(c) }
}

// groups are the changes of each database, the database first.
func (w wholes) groups() (out [][]int) {
	at := map[string]int{}
	for _, i := range w.indices(whole) {
		name, end := databases.Of(w.change(i).Path)
		if end == "" {
			at[name] = len(out)
			out = append(out, []int{i})
		} else if n, ok := at[name]; ok {
			out[n] = append(out[n], i)
		}
	}
	return out
}

// setAside takes away all files of databases that are to be changed.
func (w wholes) setAside() error {
	for _, group := range w.groups() {
		proceed, err := w.mayBegin(group)
		if err != nil {
			return err
		}
		if !proceed {
			continue
		}
		if err := w.Root.Verify(); err != nil {
			return err
		}
		for n, i := range group {
			gone, err := w.aside(i)
			if err != nil {
				return err
			}
			if !gone {
				if err := w.giveAllBack(group[:n]); err != nil {
					return err
				}
				w.leave(group, ReasonDatabase)
				break
			}
		}
	}
	return nil
}

// mayBegin tells whether a group is to be changed, or to be changed further. Where paths
// are looked at first, one that somebody has changed before the database was taken away
// keeps all of them; afterwards none does, since the database has to come back.
func (w wholes) mayBegin(group []int) (bool, error) {
	if !w.careful {
		return true, nil
	}
	begun := w.hasDisplaced(group[0])
	for n, i := range group {
		at, err := w.where(i)
		if err != nil {
			return false, err
		}
		switch {
		case n == 0 && at == atTarget && w.change(i).To != nil:
			for _, i := range group {
				w.setDone(i)
			}
			w.skip(group)
			return false, nil
		case at == elsewhere && (n == 0 || !begun):
			w.leave(group, ReasonChanged)
			return false, nil
		}
	}
	return true, nil
}

// leave leaves all files of a database.
func (w wholes) leave(group []int, why Reason) {
	for _, i := range group {
		if w.change(i).differs() {
			w.setLeft(i, why)
		}
	}
	w.skip(group)
}

// skip has nothing more done to a group.
func (w wholes) skip(group []int) {
	w.account.mu.Lock()
	defer w.account.mu.Unlock()
	w.skipped = append(w.skipped, group[0])
}

func (w wholes) isSkipped(group []int) bool { return slices.Contains(w.skipped, group[0]) }

// aside takes away what is at a path, and tells whether nothing is there now.
func (w wholes) aside(i int) (gone bool, err error) {
	c := w.change(i)
	if w.careful {
		// As the run that was killed has left it.
		if at, err := w.where(i); err != nil || at == atTarget {
			return err == nil, err
		}
	}
	l, err := lookAt(w.Root, c.Path)
	switch {
	case err != nil:
		return false, err
	case l.why != "":
		w.setLeft(i, l.why)
		return false, nil
	case !l.there:
		return true, nil
	case l.stat.Kind() == beneath.Directory && w.isFreed(c.Path):
		return true, nil // it goes before the database comes
	case !isContent(l.stat):
		w.setLeft(i, ReasonDirectory)
		return false, nil
	}
	if err := w.step("aside %s", c.Path); err != nil {
		return false, err
	}
	at, err := w.displace(spot{w.Root, c.Path}, i)
	switch {
	case err != nil && absent(err):
		return true, nil
	case err != nil && leaveObstructed(w.run, i, err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("set %s aside: %w", c.Path, err)
	}
	st, err := at.root.Lstat(at.path)
	if err != nil {
		return false, err
	}
	if !isContent(st) {
		w.setLeft(i, ReasonDirectory)
		return false, w.putBack(i, at)
	}
	return true, nil
}

// isFreed tells whether the plan removes the directory that is at a path.
func (w wholes) isFreed(path string) bool {
	return slices.ContainsFunc(w.Document.Plan.RemoveDirs, func(d Directory) bool { return d.Frees && d.Path == path })
}

// put puts all files of databases in place.
func (w wholes) put() error {
	for _, group := range w.groups() {
		if w.isSkipped(group) || w.isLeft(group[0]) {
			continue
		}
		for _, i := range slices.Backward(group) {
			if err := w.putOne(i); err != nil {
				return err
			}
			if w.isLeft(i) && w.reasonLeft(i) != ReasonMoved {
				return fmt.Errorf("%s: %w", w.change(i).Path, errDatabase)
			}
		}
	}
	return nil
}

func (w wholes) putOne(i int) error {
	c := w.change(i)
	if c.To == nil {
		// A program may have made a log since.
		at, err := w.where(i)
		if err != nil {
			return err
		}
		if at != atTarget {
			if gone, err := w.aside(i); err != nil || !gone {
				return err
			}
		}
		w.setDone(i)
		return nil
	}
	source := w.stagedSpot(i)
	if w.careful {
		at, err := w.where(i)
		if err != nil {
			return err
		}
		if at == atTarget {
			w.setDone(i)
			return nil
		}
		f, err := inspect(source.root, source.path)
		if err != nil {
			return err
		}
		if f.kind != content || !f.state.holds(c.To) {
			return fmt.Errorf("%s: %w", c.Path, errNotStaged)
		}
	}
	for range attempts {
		again, err := w.writeFrom(i, source)
		if err != nil {
			return fmt.Errorf("put %s in place: %w", c.Path, err)
		}
		if !again {
			return nil
		}
	}
	w.setLeft(i, ReasonAppeared)
	return nil
}

func (w wholes) reasonLeft(i int) Reason {
	w.account.mu.Lock()
	defer w.account.mu.Unlock()
	for _, left := range w.outcome.Left {
		if left.Path == w.change(i).Path {
			return left.Reason
		}
	}
	return ""
}

// takeAway begins the way back: what was put in place goes, of each database its file
// first.
func (w wholes) takeAway() error {
	var errs []error
	for _, group := range w.groups() {
		if err := w.takeGroupAway(group); err != nil {
			w.skip(group)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (w wholes) takeGroupAway(group []int) error {
	for n, i := range group {
		c := w.change(i)
		f, err := inspect(w.Root, c.Path)
		if err != nil {
			return err
		}
		switch {
		case f.kind != content:
		case c.To != nil && f.state.holds(c.To) && !(renews(c) && !w.hasDisplaced(i)):
			if n == 0 {
				on, err := w.wentOn(group)
				if err != nil {
					return err
				}
				if on {
					w.leave(group, ReasonChanged)
					return nil
				}
			}
			if err := w.takeOneAway(i); err != nil {
				return err
			}
		case n > 0:
		case f.state.holds(c.From):
			w.skip(group) // it was not begun
			return nil
		default:
			w.leave(group, ReasonChanged)
			return nil
		}
	}
	return nil
}

// wentOn tells whether a program has opened a database that was put in place: its logs were,
// before it, so that another one was made since, and so was its shared memory.
func (w wholes) wentOn(group []int) (bool, error) {
	for _, i := range group[1:] {
		c := w.change(i)
		f, err := inspect(w.Root, c.Path)
		if err != nil {
			return false, err
		}
		if f.kind == content && !(c.To != nil && f.state.holds(c.To)) {
			return true, nil
		}
	}
	return false, nil
}

func (w wholes) takeOneAway(i int) error {
	path := w.change(i).Path
	if err := w.step("withdraw %s", path); err != nil {
		return err
	}
	if _, err := w.displace(spot{w.Root, path}, i); err != nil && !absent(err) {
		return fmt.Errorf("take %s away: %w", path, err)
	}
	return nil
}

// takeBack ends the way back.
func (w wholes) takeBack() error {
	var errs []error
	for _, group := range w.groups() {
		if !w.isSkipped(group) {
			errs = append(errs, w.giveAllBack(group))
		}
	}
	return errors.Join(errs...)
}

// giveAllBack gives files of a database back, the database last, and only if its logs
// are there. No log is put beside a database that somebody has made meanwhile.
func (w wholes) giveAllBack(group []int) error {
	if len(group) == 0 {
		return nil
	}
	if f, err := inspect(w.Root, w.change(group[0]).Path); err != nil {
		return err
	} else if f.kind == content {
		w.leave(group, ReasonChanged)
		return nil
	}
	for _, i := range slices.Backward(group) {
		c := w.change(i)
		var err error
		switch {
		case c.To != nil:
			err = w.unwrite(i)
		case c.From != nil || w.hasDisplaced(i):
			err = w.restoreDeleted(i)
		}
		if err != nil {
			return err
		}
		if i != group[0] && w.isLeft(i) {
			w.leave(group, ReasonChanged)
			return nil
		}
	}
	return nil
}

// renews tells of a file that is made anew with the content it has.
func renews(c *Change) bool { return c.Whole && c.From != nil && c.From.holds(c.To) }

// formerOf is the file that was made anew: the first that was taken from its path.
func formerOf(q *quarantine, i int) (spot, bool, error) {
	for _, s := range q.slotsOf(i) {
		f, err := inspect(s.root, s.path)
		if err != nil {
			return spot{}, false, err
		}
		if f.kind != nothing && !q.isStaged(i, s) {
			return s, true, nil
		}
	}
	return spot{}, false, nil
}
