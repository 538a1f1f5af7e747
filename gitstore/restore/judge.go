package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// judge reads everything that lies in the entry: what is neither S's content
// nor T's was written by somebody else, and is reported. What was staged and
// not used is dropped.
func (r *run) judge() error {
	if err := r.step("judge"); err != nil {
		return err
	}
	failpoint.Hit("restore.judge")
	if err := r.judgeAll(); err != nil {
		return fmt.Errorf("look at what was displaced: %w", err)
	}
	return nil
}

func (r *run) judgeAll() error {
	slots, err := r.inventory()
	if err != nil {
		return err
	}
	var indices []int
	for i := range slots {
		indices = append(indices, i)
	}
	slices.Sort(indices)
	return r.each(context.Background(), indices, func(i int) error {
		for _, s := range slots[i] {
			if err := r.judgeSpot(i, s); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *run) judgeSpot(i int, s spot) error {
	if r.isStaged(i, s) {
		switch verdict, err := r.drop(i, s); {
		case err != nil:
			return err
		case verdict == dropped:
			return nil
		}
		var err error
		if s, err = r.displace(s, i); err != nil {
			return err
		}
	}
	f, err := inspect(s.root, s.path)
	if err != nil {
		return err
	}
	if !r.known(i, f) {
		return r.addDisplaced(s, r.change(i).Path, f)
	}
	return nil
}

// known tells whether a content is stored, being S's or T's.
func (w *Work) known(i int, f found) bool {
	c := w.change(i)
	isStored := c.From != nil && f.state.holds(c.From) || c.To != nil && f.state.holds(c.To)
	return f.kind == content && (isStored || isNothing(c, f.stat.Kind(), f.stat.Size))
}

func displacedIn(s spot, path string, f found) ([]Displaced, error) {
	switch f.kind {
	case nothing, special:
		return nil, nil
	case content:
		return []Displaced{{Path: path, Mode: f.state.Mode, Blob: f.state.Blob, at: s}}, nil
	}
	entries, err := s.root.ReadDir(s.path)
	if err != nil {
		return nil, err
	}
	var out []Displaced
	for _, e := range entries {
		inner := spot{s.root, treepath.Join(s.path, e.Name)}
		f, err := inspect(inner.root, inner.path)
		if err != nil {
			return nil, err
		}
		list, err := displacedIn(inner, treepath.Join(path, e.Name), f)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// verdict is what became of a file that was to be dropped.
type verdict uint8

const (
	dropped verdict = iota
	busy            // somebody has it open for writing, or that was to be proven and can't be
	unknown         // its content is not known to be stored
)

// drop removes a file if its content is known to be stored. Where the system
// can tell, nobody can write to it any more at that moment; elsewhere it is
// read and removed at once.
func (q *quarantine) drop(i int, s spot) (verdict, error) {
	return dropIf(s, false, func(f found) (bool, error) { return q.known(i, f), nil })
}

// dropIf removes a file whose content is known; with proven only where the system
// can tell that nobody writes to it: it is busy otherwise.
func dropIf(s spot, proven bool, known func(found) (bool, error)) (verdict, error) {
	st, err := s.root.Lstat(s.path)
	if err != nil {
		if absent(err) {
			return dropped, nil
		}
		return unknown, err
	}
	if st.Kind() == beneath.File {
		return dropFile(s, proven, known)
	}
	f, err := inspect(s.root, s.path)
	if err != nil {
		return unknown, err
	}
	ok, err := known(f)
	if err != nil || !ok {
		return unknown, err
	}
	return dropped, s.root.Unlink(s.path)
}

func dropFile(s spot, proven bool, known func(found) (bool, error)) (verdict, error) {
	file, st, err := s.root.Open(s.path)
	if errors.Is(err, fs.ErrPermission) {
		return unknown, nil
	}
	if err != nil {
		return unknown, err
	}
	defer file.Close()
	// Held until the close, and so until after the removal.
	sure, err := holdOffWriters(file)
	if errors.Is(err, errWriters) || err == nil && proven && !sure {
		return busy, nil
	}
	if err != nil {
		return unknown, err
	}
	id, err := hashFile(file)
	if err != nil {
		return unknown, err
	}
	ok, err := known(found{kind: content, stat: st, state: State{Mode: fileMode(st), Blob: id}})
	if err != nil || !ok {
		return unknown, err
	}
	return dropped, s.root.Unlink(s.path)
}

// errWriters is returned by holdOffWriters if a file is open for writing.
var errWriters = errors.New("open for writing")
