package usergit

import "fmt"

// Objects reads the commits and trees of the user's repository. The package
// calls it from the goroutine of its own caller, one call at a time. An error
// that says an object is missing is passed on wrapped.
type Objects interface {
	// Commit returns the commit as it is stored, without grafts, replacements
	// or the shallow boundary.
	Commit(id ID) (Commit, error)
	// Tree returns the entries of one tree, not recursively.
	Tree(id ID) ([]TreeEntry, error)
}

// Commit is what is needed of a commit.
type Commit struct {
	Tree    ID
	Parents []ID
}

// TreeEntry is one entry of a tree.
type TreeEntry struct {
	Name string
	Mode Mode
	ID   ID
}

// FirstParents lists at most n commits from id on, first parents only, id
// first. It ends early at the root and at the boundary of a shallow
// repository. With an error come those that were found before it.
func (r *Repository) FirstParents(objects Objects, id ID, n int) ([]ID, error) {
	shallow, err := r.shallow()
	if err != nil {
		return nil, err
	}
	var ids []ID
	for len(ids) < n && !id.IsZero() {
		commit, err := objects.Commit(id)
		if err != nil {
			return ids, fmt.Errorf("read commit %s: %w", id, err)
		}
		ids = append(ids, id)
		if len(commit.Parents) == 0 || shallow[id] {
			break
		}
		id = commit.Parents[0]
	}
	return ids, nil
}
