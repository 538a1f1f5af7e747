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
	if err := m.scratch.DiffTrees(m.sides.Theirs, merged, func(c gitstore.Change) error { return w.put(c.Path, c.To) }); err != nil {
		return gitstore.ID{}, err
	}
	return w.write()
}

// treeWriter changes a tree of the store, path by path.
type treeWriter struct {
	*merger
	tree  *records.Tree
	batch *shadow.Batch
}

func (m *merger) newTree(base gitstore.ID) *treeWriter {
	return &treeWriter{merger: m, tree: records.NewTree(m.store, base), batch: m.store.NewBatch()}
}

// put sets a path to what is stored, or is in the scratch. The zero entry removes it.
func (w *treeWriter) put(path string, e gitstore.TreeEntry) error {
	if e.ID.IsZero() {
		return w.tree.Remove(path)
	}
	have, err := w.store.Has(e.ID)
	if err != nil {
		return err
	}
	if !have {
		if err := w.copyBlob(e.ID); err != nil {
			return err
		}
	}
	return w.tree.PutEntry(path, e.Mode, e.ID)
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
	id, err := w.tree.Write(w.batch)
	if err == nil {
		err = w.ctx.Err()
	}
	return id, errors.Join(err, w.batch.Flush(w.ctx))
}
