package shadow

import (
	"errors"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
)

// NotProvedError names an object that a snapshot about to be published needs and
// that is not there.
type NotProvedError struct {
	// Path is where the object stands in the tree, "" if not known.
	Path string
	Err  error
}

func (e *NotProvedError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("not complete: %v", e.Err)
	}
	return fmt.Sprintf("not complete: %s: %v", e.Path, e.Err)
}

// Unwrap gives the cause, an *ObjectError.
func (e *NotProvedError) Unwrap() error { return e.Err }

// proof is one look at what is stored, of a batch about to be published.
type proof struct {
	*Batch
	listed bool // the packs were listed again
}

// Prove returns a *NotProvedError unless each object was flushed by this batch
// or is stored. Only presence is looked at: on disk, now, since another process
// may have packed what was there when the batch found it.
func (b *Batch) Prove(ids ...gitstore.ID) error {
	p := &proof{Batch: b}
	for _, id := range ids {
		if err := p.prove(id); err != nil {
			return &NotProvedError{Err: err}
		}
	}
	return nil
}

func (b *proof) prove(id gitstore.ID) error {
	b.mu.Lock()
	_, ok := b.written[id]
	unflushed := b.pack != nil || len(b.pending) > 0 || b.failed != nil
	b.mu.Unlock()
	if unflushed {
		return gitstore.AboutObject(id, errors.New("the batch is not flushed"))
	}
	if ok {
		return nil
	}
	if err := b.list(); err != nil {
		return gitstore.AboutObject(id, err)
	}
	ok, err := b.store.Has(id)
	if err == nil && !ok {
		err = gitstore.ErrMissing
	}
	return gitstore.AboutObject(id, err)
}

// list looks, once a proof, which packs are there: what the batch found in one
// may be gone with it since.
func (b *proof) list() error {
	if b.listed {
		return nil
	}
	b.listed = true
	return b.store.Rescan()
}

// ProveTree returns a *NotProvedError unless every object reachable from tree
// and not from parent (a tree too; zero for none) is there. Subtrees that are
// equal in both are passed over, so the cost follows the difference. Gitlinks
// are refused. Call it after Flush and before publishing a ref.
func (b *Batch) ProveTree(tree, parent gitstore.ID) error {
	p := &proof{Batch: b}
	if err := p.prove(tree); err != nil {
		return &NotProvedError{Err: err}
	}
	var needed []gitstore.ID
	err := p.proveTree("", tree, parent, func(_ string, id gitstore.ID) error {
		needed = append(needed, id)
		return nil
	})
	if err != nil || p.haveAll(needed) {
		return err
	}
	// Some may be missing. Each is looked up by itself, for those that another
	// process has repacked just now and for the path of one that is not there.
	return p.proveTree("", tree, parent, func(path string, id gitstore.ID) error {
		if err := p.prove(id); err != nil {
			return &NotProvedError{Path: path, Err: err}
		}
		return nil
	})
}

// haveAll looks many objects up at once. It may say no of one that was repacked
// a moment ago.
func (b *proof) haveAll(ids []gitstore.ID) bool {
	b.mu.Lock()
	unflushed := b.pack != nil || len(b.pending) > 0 || b.failed != nil
	ids = slices.DeleteFunc(ids, func(id gitstore.ID) bool {
		_, ok := b.written[id]
		return ok
	})
	b.mu.Unlock()
	slices.SortFunc(ids, gitstore.ID.Compare)
	ids = slices.Compact(ids)
	if len(ids) > 0 && b.list() != nil {
		return false
	}
	for i, at := range b.store.Locate(ids) {
		if at.Nowhere() || !b.store.trusts(ids[i]) {
			return false
		}
	}
	return !unflushed
}

// proveTree reads the trees, and calls need, with its path, for each object that
// is not the parent's.
func (b *proof) proveTree(prefix string, tree, parent gitstore.ID, need func(path string, id gitstore.ID) error) error {
	if tree == parent {
		return nil
	}
	entries, err := b.store.TreeReader(tree)
	if err != nil {
		return &NotProvedError{Path: prefix, Err: err}
	}
	// Of a parent that can't be read nothing is known: all is looked at.
	before, err := b.store.TreeReaderOrNone(parent)
	if err != nil && !errors.Is(err, gitstore.ErrMissing) && !errors.Is(err, gitstore.ErrDamaged) {
		return &NotProvedError{Path: prefix, Err: err}
	}
	for entries.OK {
		e := entries.Head
		if err := entries.Next(); err != nil {
			return &NotProvedError{Path: prefix, Err: gitstore.AboutObject(tree, err)}
		}
		// Both are in Git's order; in one that is not, more is looked at.
		for before.OK && before.Head.Compare(&e) < 0 {
			if before.Next() != nil {
				break // and nothing more is known
			}
		}
		var old gitstore.RawEntry
		if before.OK && before.Head.Compare(&e) == 0 {
			old = before.Head
		}
		if old.ID == e.ID {
			continue
		}
		path := prefix + string(e.Name)
		if e.Mode == gitstore.ModeGitlink {
			return &NotProvedError{Path: path, Err: errors.New("a gitlink has no object")}
		}
		// That a tree can be read does not show that it is stored: it may be
		// remembered.
		if err := need(path, e.ID); err != nil {
			return err
		}
		if !e.Mode.IsDir() {
			continue
		}
		below := gitstore.ID{}
		if old.Mode.IsDir() {
			below = old.ID
		}
		if err := b.proveTree(path+"/", e.ID, below, need); err != nil {
			return err
		}
	}
	return nil
}
