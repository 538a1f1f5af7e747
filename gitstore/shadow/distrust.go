package shadow

import (
	"maps"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
)

// distrust is the objects that a Store has and does not count as stored.
type distrust struct {
	mu  sync.Mutex
	ids map[gitstore.ID]bool
}

// clone gives another that begins with the same objects.
func (d *distrust) clone() *distrust {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &distrust{ids: maps.Clone(d.ids)}
}

// Distrust makes the Store write these objects again when a batch is given them,
// though it holds something by their names: it was found damaged, or could not
// be told from damage. Until then they count as missing. It lasts as long as
// the Store is open.
func (d *distrust) Distrust(ids ...gitstore.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range ids {
		if d.ids == nil {
			d.ids = map[gitstore.ID]bool{}
		}
		d.ids[id] = true
	}
}

// trusts tells whether the object was not distrusted, or was written since.
func (d *distrust) trusts(id gitstore.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.ids[id]
}

// wrote ends the distrust of objects that were written again.
func (d *distrust) wrote(ids map[gitstore.ID]struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id := range d.ids {
		if _, ok := ids[id]; ok {
			delete(d.ids, id)
		}
	}
}

// Has reports whether the object is stored and not distrusted. It does not read
// the content.
func (s *Store) Has(id gitstore.ID) (bool, error) {
	if !s.trusts(id) {
		return false, nil
	}
	return s.Reader.Has(id)
}

// storedCommit is an error unless id is a commit that is stored.
func (s *Store) storedCommit(id gitstore.ID) error {
	if s.Remembers(id, gitstore.TypeCommit) {
		if stored, err := s.Has(id); stored || err != nil {
			return err
		}
	}
	_, err := s.Typed(id, gitstore.TypeCommit)
	return err
}
