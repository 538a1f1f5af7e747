package shadow

import (
	"context"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
)

// Reach is every object that refs, and snapshots that are written and not
// published, lead to.
type Reach struct {
	store  *Store
	Seen   map[gitstore.ID]gitstore.ObjectType
	Unread map[gitstore.ID]error // commits and trees: what is below them is not known
}

// Reach reads commits and trees, and takes of blobs what trees say.
func (s *Store) Reach(ctx context.Context, roots []gitstore.ID) (*Reach, error) {
	return reachFrom(ctx, s, roots, func(gitstore.Ref) bool { return true })
}

// ReachOwn is Reach without the refs of what was fetched.
func ReachOwn(ctx context.Context, s *Store, roots []gitstore.ID) (*Reach, error) {
	return reachFrom(ctx, s, roots, func(ref gitstore.Ref) bool { return ref.Name.Remote() == "" })
}

func reachFrom(ctx context.Context, s *Store, roots []gitstore.ID, counts func(gitstore.Ref) bool) (*Reach, error) {
	list, err := s.Refs("")
	if err != nil {
		return nil, err
	}
	if _, err := s.ReadBoundary(); err != nil {
		return nil, err
	}
	r := &Reach{store: s, Seen: map[gitstore.ID]gitstore.ObjectType{}, Unread: map[gitstore.ID]error{}}
	queue := slices.Clone(roots)
	for _, ref := range list.Refs {
		if counts(ref) {
			queue = append(queue, ref.ID)
		}
	}
	for len(queue) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if r.Seen[id] != 0 {
			continue
		}
		r.Seen[id] = gitstore.TypeCommit
		c, err := s.Commit(id)
		if err != nil {
			r.Unread[id] = err
			continue
		}
		r.tree(c.Tree)
		queue = append(queue, c.Parents...)
		if record := gitstore.ParseSnapshot(c).Record; !record.IsZero() {
			queue = append(queue, record)
		}
	}
	return r, nil
}

func (r *Reach) tree(id gitstore.ID) {
	if r.Seen[id] != 0 {
		return
	}
	r.Seen[id] = gitstore.TypeTree
	entries, err := r.store.Tree(id)
	if err != nil {
		r.Unread[id] = err
	}
	for _, e := range entries {
		if e.Mode.IsDir() {
			r.tree(e.ID)
		} else if r.Seen[e.ID] == 0 {
			r.Seen[e.ID] = gitstore.TypeBlob
		}
	}
}
