package fork

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/attributes"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// hasDefaultACL tells whether what is made below a root gets an ACL.
func hasDefaultACL(root *beneath.Root) (bool, error) {
	dir, err := root.OpenDir("")
	if err != nil {
		return false, err
	}
	defer dir.Close()
	return attributes.HasDefaultACL(dir), nil
}

// giveACL gives a copied directory all that the original has, if that has an ACL or the
// copy has inherited one, and tells whether it did: beside an ACL the bits say something
// else.
func (j *job) giveACL(i item, path string, inherits bool) (bool, error) {
	if j.from == nil {
		return false, nil
	}
	from, err := j.from.OpenDir(i.path)
	if err != nil {
		return false, nil // gone since it was listed
	}
	defer from.Close()
	if !inherits && !attributes.HasACL(from) {
		return false, nil
	}
	to, err := j.to.OpenDir(path)
	if err != nil {
		return false, err
	}
	defer to.Close()
	st, err := from.Stat()
	if err != nil {
		return false, err
	}
	lost := attributes.All(from, st).Give(to)
	return !slices.ContainsFunc(lost, func(l attributes.Lost) bool { return l.What == attributes.Bits }), nil
}
