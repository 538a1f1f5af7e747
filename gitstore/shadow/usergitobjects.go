package shadow

import (
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// userObjects gives a repository's objects to usergit, which may not import
// go-git.
type userObjects struct{ objects *Objects }

// UserObjects presents o as what usergit reads commits and trees with.
func (o *Objects) UserObjects() usergit.Objects { return userObjects{o} }

func fromUser(id usergit.ID) (gitstore.ID, error) {
	raw := id.Bytes()
	if len(raw) != gitstore.IDSize {
		return gitstore.ID{}, &UnsupportedRepositoryError{Dir: id.String(), Reason: "the id is not one of SHA-1"}
	}
	return gitstore.ID(raw), nil
}

func toUser(id gitstore.ID) (usergit.ID, error) { return usergit.IDFromBytes(id[:]) }

// Commit implements usergit.Objects.
func (u userObjects) Commit(id usergit.ID) (usergit.Commit, error) {
	own, err := fromUser(id)
	if err != nil {
		return usergit.Commit{}, err
	}
	c, err := u.objects.Commit(own)
	if err != nil {
		return usergit.Commit{}, err
	}
	var out usergit.Commit
	if out.Tree, err = toUser(c.Tree); err != nil {
		return out, fmt.Errorf("commit %s: %w", own, err)
	}
	for _, p := range c.Parents {
		parent, err := toUser(p)
		if err != nil {
			return out, fmt.Errorf("commit %s: %w", own, err)
		}
		out.Parents = append(out.Parents, parent)
	}
	return out, nil
}

// Tree implements usergit.Objects.
func (u userObjects) Tree(id usergit.ID) ([]usergit.TreeEntry, error) {
	own, err := fromUser(id)
	if err != nil {
		return nil, err
	}
	entries, err := u.objects.Tree(own)
	if err != nil {
		return nil, err
	}
	out := make([]usergit.TreeEntry, len(entries))
	for i, e := range entries {
		id, err := toUser(e.ID)
		if err != nil {
			return nil, err
		}
		out[i] = usergit.TreeEntry{Name: e.Name, Mode: usergit.Mode(e.Mode), ID: id}
	}
	return out, nil
}
