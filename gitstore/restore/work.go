package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore/attributes"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/journal"
)

// Work is one operation on files, as an entry of the journal has it. Its
// methods are for one goroutine, of the process that holds the workspace's
// lock.
type Work struct {
	// Root is the workspace; its identity must be the document's.
	Root *beneath.Root
	// Objects holds the contents of S and T.
	Objects Objects
	// Entry is the journal's entry; Document is what Prepare gave, and what the
	// entry's document holds.
	Entry    *journal.Operation
	Document *Document
	// Workers is how many files are written at once; 0 means 2.
	Workers int
	// Step, if set, is called before each step that changes something, with what
	// it is; an error fails the step. It is for tests, which kill the process
	// there. It may be called from several goroutines.
	Step func(name string) error

	buffers sync.Pool // of *[]byte

	notesMu sync.Mutex
	notes   []Note // of what Stage could not carry over
}

// run is one call of a method of Work.
type run struct {
	quarantine
	account
	// careful looks at each path first and touches only what is as planned.
	careful bool
	// resumed says that another run was there before.
	resumed bool
}

// begin opens the entry's directories and proves the workspace.
func (w *Work) begin() (*run, error) {
	if w.Root.Identity() != w.Document.Root {
		return nil, fmt.Errorf("%s: %w", w.Document.Workspace, beneath.ErrMoved)
	}
	if err := w.Root.Verify(); err != nil {
		return nil, err
	}
	r := &run{
		quarantine: quarantine{Work: w, slots: map[int][]spot{}},
		account:    account{plan: &w.Document.Plan, done: map[int]bool{}, left: map[int]bool{}},
	}
	var err error
	if phase, _ := w.Entry.Phase(); phase != journal.Done {
		if r.lost, err = w.Entry.MakeDirs(); err != nil {
			return nil, err
		}
	}
	if r.staged, err = openIfThere(w.Entry.StagedDir()); err != nil {
		return nil, err
	}
	if r.displaced, err = openIfThere(w.Entry.DisplacedDir()); err != nil {
		r.end()
		return nil, err
	}
	return r, nil
}

func openIfThere(dir string) (*beneath.Root, error) {
	root, err := beneath.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return root, err
}

func (q *quarantine) end() {
	for _, root := range []*beneath.Root{q.staged, q.displaced} {
		if root != nil {
			_ = root.Close()
		}
	}
}

func (w *Work) step(format string, args ...any) error {
	if w.Step == nil {
		return nil
	}
	return w.Step(fmt.Sprintf(format, args...))
}

func (w *Work) change(i int) *Change { return &w.Document.Plan.Changes[i] }

// indices are the changes for which ok holds, in the order of the plan.
func (w *Work) indices(ok func(c *Change) bool) []int {
	var out []int
	for i := range w.Document.Plan.Changes {
		if ok(w.change(i)) {
			out = append(out, i)
		}
	}
	return out
}

func (w *Work) note(n Note) {
	w.notesMu.Lock()
	defer w.notesMu.Unlock()
	w.notes = append(w.notes, n)
}

func (w *Work) noteLost(path string, lost []attributes.Lost) {
	for _, l := range lost {
		w.note(Note{path, l.What, l.Err})
	}
}

// result is the outcome, complete and in order.
func (r *run) result() *Outcome {
	for i := range r.done {
		if !r.left[i] {
			r.outcome.Done = append(r.outcome.Done, r.change(i).Path)
		}
	}
	r.outcome.Notes = slices.Clone(r.notes)
	r.outcome.sort()
	out := r.outcome
	return &out
}

// each runs fn for every index, several at once, until one fails.
func (w *Work) each(ctx context.Context, indices []int, fn func(i int) error) error {
	workers := w.Workers
	if workers == 0 {
		workers = 2
	}
	workers = min(workers, len(indices))
	var (
		mu    sync.Mutex
		next  int
		first error
		group sync.WaitGroup
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first = ctx.Err()
		}
		if first != nil || next == len(indices) {
			return 0, false
		}
		next++
		return indices[next-1], true
	}
	for range workers {
		group.Go(func() {
			for {
				i, ok := take()
				if !ok {
					return
				}
				if err := fn(i); err != nil {
					mu.Lock()
					if first == nil {
						first = err
					}
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return first
}

// LeftBeside lists what of an operation lies in the workspace, as absolute paths. A
// directory that can't be read counts as empty.
func (d *Document) LeftBeside(operation string) []string {
	var out []string
	for _, dir := range d.besideDirs() {
		entries, err := os.ReadDir(filepath.Join(d.Workspace, dir))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if of, _, ok := beneath.ParseScratch(e.Name()); ok && of == operation {
				out = append(out, filepath.Join(d.Workspace, dir, e.Name()))
			}
		}
	}
	return out
}

// besideDirs are the directories of the workspace that things are staged in.
func (d *Document) besideDirs() []string {
	var out []string
	for _, dir := range d.Beside {
		out = append(out, dir)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
