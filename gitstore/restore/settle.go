package restore

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// Settled is what a Settle has found in an operation's quarantine.
type Settled struct {
	// Displaced are files that are neither S's nor T's, nor recorded: those of
	// the operation's outcome, and such as were written to since, through a
	// handle that was open. They stay until they are recorded.
	Displaced []Displaced
	// Busy are paths whose displaced file somebody still has open for writing, or
	// for Tidy may have.
	Busy []string
	// Empty tells that nothing is left, so that the entry can be dropped.
	Empty bool
}

// Finish ends the operation's entry. The entry stays while anything is in the
// quarantine, in the journal or in the workspace itself, for Settle to end.
func (w *Work) Finish() error {
	if w.Document == nil || len(w.Document.Beside) == 0 {
		return w.Entry.Finish()
	}
	r, err := w.begin()
	if err != nil {
		return err
	}
	defer r.end()
	left := map[int][]spot{}
	for _, dir := range w.Document.besideDirs() {
		if err := r.besideInventory(dir, left); err != nil {
			return err
		}
	}
	if len(left) > 0 {
		return w.Entry.FinishKept()
	}
	return w.Entry.Finish()
}

// Settle drops from the quarantine of a finished operation what is stored
// elsewhere: S's content, T's, and whatever recorded says is in a record. Each
// file is read again first (I8). It is for the next idle point, or later.
func (w *Work) Settle(recorded func(Displaced) (bool, error)) (*Settled, error) {
	return w.settleAll(recorded, false)
}

// Tidy is Settle for what is set aside in the workspace itself, where people see
// it and git would take it for theirs, at once after Finish: what nobody has open
// for writing, as the system can tell, can't change any more (I8). What may be
// open is Busy, and the journal's own quarantine stays: both are for Settle.
func (w *Work) Tidy(recorded func(Displaced) (bool, error)) (*Settled, error) {
	return w.settleAll(recorded, true)
}

func (w *Work) settleAll(recorded func(Displaced) (bool, error), tidy bool) (*Settled, error) {
	r, err := w.begin()
	if err != nil {
		return nil, err
	}
	defer r.end()
	slots, err := r.inventory()
	if err != nil {
		return nil, err
	}
	for _, dir := range w.Document.besideDirs() {
		back, err := r.openDir(dir)
		if err != nil {
			return nil, err
		}
		defer func() { _ = r.chmodDir(back) }()
	}
	failpoint.Hit("restore.settle")
	out := &Settled{Empty: !r.foreign}
	settle := settling{r, recorded, tidy, out}
	for i, list := range slots {
		for _, s := range list {
			if tidy && s.root != r.Root {
				out.Empty = false
				continue
			}
			if err := settle.spot(i, s); err != nil {
				return nil, err
			}
		}
	}
	r.outcome.sort()
	out.Displaced = r.outcome.Displaced
	slices.Sort(out.Busy)
	return out, nil
}

// settling is one call of settleAll.
type settling struct {
	*run
	recorded func(Displaced) (bool, error)
	tidy     bool // drop only what nobody can write to any more, as the system proves
	out      *Settled
}

func (r settling) spot(i int, s spot) error {
	st, err := s.root.Lstat(s.path)
	if err != nil {
		return err
	}
	if st.Kind() == beneath.Directory {
		return r.folder(i, s)
	}
	return r.file(i, Displaced{Path: r.change(i).Path, at: s})
}

func (r settling) file(i int, d Displaced) error {
	verdict, err := dropIf(d.at, r.tidy, func(f found) (bool, error) {
		if r.known(i, f) {
			return true, nil
		}
		if f.kind != content || f.state.Blob.IsZero() || r.recorded == nil {
			return false, nil
		}
		d.Mode, d.Blob = f.state.Mode, f.state.Blob
		return r.recorded(d)
	})
	if err != nil || verdict == dropped {
		return err
	}
	r.out.Empty = false
	if verdict == busy {
		r.out.Busy = append(r.out.Busy, d.Path)
		if r.tidy {
			return nil // what it will hold is not known yet
		}
	}
	f, err := inspect(d.at.root, d.at.path)
	if err != nil || r.known(i, f) {
		return err
	}
	return r.addDisplaced(d.at, d.Path, f)
}

// folder is for all that is in a displaced directory.
func (r settling) folder(i int, s spot) error {
	list, err := displacedIn(s, r.change(i).Path, found{kind: folder})
	if err != nil {
		return err
	}
	for _, d := range list {
		if err := r.file(i, d); err != nil {
			return err
		}
	}
	gone, err := removeEmpty(s)
	r.out.Empty = r.out.Empty && gone
	return err
}

// removeEmpty removes a directory of the quarantine and those in it if there
// are no files in them.
func removeEmpty(s spot) (bool, error) {
	entries, err := s.root.ReadDir(s.path)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		inner := spot{s.root, treepath.Join(s.path, e.Name)}
		st, err := inner.root.Lstat(inner.path)
		if err != nil || st.Kind() != beneath.Directory {
			return false, err
		}
		if gone, err := removeEmpty(inner); err != nil || !gone {
			return false, err
		}
	}
	return true, s.root.Rmdir(s.path)
}
