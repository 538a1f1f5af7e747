package shadow

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
)

// Import adds one object of another repository to the batch, verified. What it
// refers to is not looked at.
func (b *Batch) Import(from *Objects, id gitstore.ID) error {
	if have, err := b.have(id); have || err != nil {
		return err
	}
	if r, size, err := from.BlobReader(id); err == nil && size >= streamedSize {
		defer r.Close()
		_, err := b.BlobFrom(r, size)
		return err
	} else if err == nil {
		r.Close()
	}
	kind, data, err := from.Object(id)
	if err != nil {
		return err
	}
	_, err = b.Write(kind, data)
	return err
}

// ImportTree adds a tree of another repository with everything below it, but for
// gitlinks. A subtree that is stored already is gone through all the same, since
// its presence says nothing of what is below it.
func (b *Batch) ImportTree(ctx context.Context, from *Objects, tree gitstore.ID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := from.Tree(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.Mode.IsDir():
			err = b.ImportTree(ctx, from, e.ID)
		case e.Mode.IsBlob():
			err = b.Import(from, e.ID)
		}
		if err != nil {
			return fmt.Errorf("import %s: %w", gitstore.QuotePath(e.Name), err)
		}
	}
	if tree == gitstore.EmptyTree() {
		_, err := b.Tree(nil)
		return err
	}
	return b.Import(from, tree)
}
