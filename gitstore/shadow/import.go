package shadow

import (
	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/objects"
)

// Import adds one object of another repository to the batch, verified. What it
// refers to is not looked at.
func (b *Batch) Import(from *objects.Reader, id gitstore.ID) error {
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
