package merge

import (
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// storeMerged writes a tree that git made in the scratch into the store, as a change of
// theirs.
func (m *merger) storeMerged(merged gitstore.ID) (gitstore.ID, error) {
	w := m.newTree(m.sides.Theirs)
	defer w.batch.Discard()
	if err := m.scratch.DiffTrees(m.sides.Theirs, merged, func(c gitstore.Change) error {
		w.put(c.Path, c.To)
		return m.ctx.Err()
	}); err != nil {
		return gitstore.ID{}, err
	}
	return w.write()
}

// treeWriter changes a tree of the store.
type treeWriter struct {
	*merger
	tree    *records.Tree
	batch   *shadow.Batch
	changed map[string]gitstore.TreeEntry // by path; the zero entry removes what is there
}

func (m *merger) newTree(base gitstore.ID) *treeWriter {
	return &treeWriter{merger: m, tree: records.NewTree(m.store, base), batch: m.store.NewBatch(), changed: map[string]gitstore.TreeEntry{}}
}

// put sets a path to what is stored, or is in the scratch. The zero entry removes it.
func (w *treeWriter) put(path string, e gitstore.TreeEntry) { w.changed[path] = e }

// apply changes the tree. Removals come first: where a file became a directory, removing
// the file must not remove the directory.
func (w *treeWriter) apply() error {
	for path, e := range w.changed {
		if e.ID.IsZero() {
			if err := w.tree.Remove(path); err != nil {
				return err
			}
		}
	}
	for path, e := range w.changed {
		if e.ID.IsZero() {
			continue
		}
		have, err := w.store.Has(e.ID)
		if err == nil && !have {
			err = w.copyBlob(e.ID)
		}
		if err == nil {
			err = w.tree.PutEntry(path, e.Mode, e.ID)
		}
		if err != nil {
			return err
		}
	}
	return w.ctx.Err()
}

// copyBlob copies the content of a file that git made out of the scratch.
func (w *treeWriter) copyBlob(id gitstore.ID) error {
	content, size, err := w.scratch.BlobReader(id)
	if err != nil {
		return err
	}
	defer content.Close()
	_, err = w.batch.BlobFrom(content, size)
	return err
}

// write makes the tree durable.
func (w *treeWriter) write() (gitstore.ID, error) {
	if err := w.apply(); err != nil {
		return gitstore.ID{}, err
	}
	id, err := w.tree.Write(w.batch)
	return id, errors.Join(err, w.batch.Flush(w.ctx))
}
