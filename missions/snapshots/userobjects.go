package snapshots

import (
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// userObjects lets usergit read the objects of the user's repository.
type userObjects struct{ objects *objects.Reader }

// Commit implements usergit.Objects.
func (u userObjects) Commit(id usergit.ID) (usergit.Commit, error) {
	key, err := ToStoreID(id)
	if err != nil {
		return usergit.Commit{}, err
	}
	c, err := u.objects.Commit(key)
	if err != nil {
		return usergit.Commit{}, err
	}
	out := usergit.Commit{}
	if out.Tree, err = toUserID(c.Tree); err != nil {
		return out, err
	}
	for _, p := range c.Parents {
		parent, err := toUserID(p)
		if err != nil {
			return out, err
		}
		out.Parents = append(out.Parents, parent)
	}
	return out, nil
}

// Tree implements usergit.Objects.
func (u userObjects) Tree(id usergit.ID) ([]usergit.TreeEntry, error) {
	key, err := ToStoreID(id)
	if err != nil {
		return nil, err
	}
	entries, err := u.objects.Tree(key)
	if err != nil {
		return nil, err
	}
	out := make([]usergit.TreeEntry, len(entries))
	for i, e := range entries {
		entry, err := toUserID(e.ID)
		if err != nil {
			return nil, err
		}
		out[i] = usergit.TreeEntry{Name: e.Name, Mode: usergit.Mode(e.Mode), ID: entry}
	}
	return out, nil
}

// ToStoreID is a user's object id as the shadow repository writes ids. It fails for
// SHA-256.
func ToStoreID(id usergit.ID) (gitstore.ID, error) {
	raw := id.Bytes()
	if len(raw) != gitstore.IDSize {
		return gitstore.ID{}, fmt.Errorf("object %s is not named by SHA-1", id)
	}
	return gitstore.ID(raw), nil
}

func toUserID(id gitstore.ID) (usergit.ID, error) { return usergit.IDFromBytes(id[:]) }
