package gitstore

import (
	"context"
	"slices"
)

// reach is every object that refs, and snapshots that are written and not
// published, lead to.
type reach struct {
	store  *Store
	seen   map[ID]ObjectType
	unread map[ID]error // commits and trees: what is below them is not known
}

// reach reads commits and trees, and takes of blobs what trees say.
func (s *Store) reach(ctx context.Context, roots []ID) (*reach, error) {
	list, err := s.Refs("")
	if err != nil {
		return nil, err
	}
	if _, err := s.readBoundary(); err != nil {
		return nil, err
	}
	r := &reach{store: s, seen: map[ID]ObjectType{}, unread: map[ID]error{}}
	queue := slices.Clone(roots)
	for _, ref := range list.Refs {
		queue = append(queue, ref.ID)
	}
	for len(queue) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if r.seen[id] != 0 {
			continue
		}
		r.seen[id] = TypeCommit
		c, err := s.Commit(id)
		if err != nil {
			r.unread[id] = err
			continue
		}
		r.tree(c.Tree)
		queue = append(queue, c.Parents...)
		if record := ParseSnapshot(c).Record; !record.IsZero() {
			queue = append(queue, record)
		}
	}
	return r, nil
}

func (r *reach) tree(id ID) {
	if r.seen[id] != 0 {
		return
	}
	r.seen[id] = TypeTree
	entries, err := r.store.Tree(id)
	if err != nil {
		r.unread[id] = err
	}
	for _, e := range entries {
		if e.Mode.IsDir() {
			r.tree(e.ID)
		} else if r.seen[e.ID] == 0 {
			r.seen[e.ID] = TypeBlob
		}
	}
}
