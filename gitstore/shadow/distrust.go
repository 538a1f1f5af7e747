package shadow

import "github.com/umbra-vcs/umbra/gitstore"

// Distrust makes the Store write these objects again when a batch is given them,
// though it holds something by their names: it was found damaged, or could not
// be told from damage. Until then they count as missing. It lasts as long as
// the Store is open.
func (s *Store) Distrust(ids ...gitstore.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if s.distrusted == nil {
			s.distrusted = map[gitstore.ID]bool{}
		}
		s.distrusted[id] = true
	}
}

// trusts tells whether the object was not distrusted, or was written since.
func (s *Store) trusts(id gitstore.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.distrusted[id]
}

// wrote ends the distrust of objects that were written again.
func (s *Store) wrote(ids map[gitstore.ID]struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.distrusted {
		if _, ok := ids[id]; ok {
			delete(s.distrusted, id)
		}
	}
}

// Has reports whether the object is stored and not distrusted. It does not read
// the content.
func (s *Store) Has(id gitstore.ID) (bool, error) {
	if !s.trusts(id) {
		return false, nil
	}
	return s.Objects.Has(id)
}

// storedCommit is an error unless id is a commit that is stored.
func (s *Store) storedCommit(id gitstore.ID) error {
	if _, ok := s.recent.get(id, gitstore.TypeCommit); ok {
		if stored, err := s.Has(id); stored || err != nil {
			return err
		}
	}
	_, err := s.typed(id, gitstore.TypeCommit)
	return err
}
