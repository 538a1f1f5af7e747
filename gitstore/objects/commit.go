package objects

import "github.com/umbra-vcs/umbra/gitstore"

// Commit reads a commit. Signatures, encodings and other extra headers, which
// Umbra never writes but a user's commit may have, are passed over.
func (o *Reader) Commit(id gitstore.ID) (*gitstore.Commit, error) {
	data, err := o.recalled(id, gitstore.TypeCommit)
	if err != nil {
		return nil, err
	}
	c, err := gitstore.ParseCommit(data)
	if err != nil {
		return nil, gitstore.AboutObject(id, err)
	}
	c.ID = id
	return c, nil
}
