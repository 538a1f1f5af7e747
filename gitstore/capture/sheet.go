package capture

import (
	"slices"
	"sync"
)

// sheet is the entries of a directory that is being listed, in the order of
// their names. As long as they are those that the directory had before, nothing
// is written down: they are the old node's own.
type sheet struct {
	old     *node
	entries []entry
	reads   []int // positions of what must be read
	same    bool  // entries is old.entries, or its beginning

	at   int // position in old.entries of the next one that may be found
	room int

	mu sync.Mutex // guards entries and same once the directory is listed
}

func newSheet(old *node, names int) *sheet {
	s := &sheet{old: old, room: names}
	if old != nil {
		s.same, s.entries = true, old.entries[:0]
	}
	return s
}

// find is what the directory had of a name, nil if nothing. It is asked name by
// name, in order.
func (s *sheet) find(name []byte) *entry {
	if s.old == nil {
		return nil
	}
	for s.at < len(s.old.entries) {
		e := &s.old.entries[s.at]
		if e.name > string(name) {
			break
		}
		s.at++
		if e.name == string(name) {
			return e
		}
	}
	return nil
}

// keep takes over an entry that find returned last.
func (s *sheet) keep(was *entry) {
	if s.same && len(s.entries) == s.at-1 {
		s.entries = s.old.entries[:s.at]
		return
	}
	s.differ()
	s.entries = append(s.entries, *was)
}

// add takes an entry that was judged anew; was is what find returned for it.
func (s *sheet) add(e entry, read bool, was *entry) {
	if was != nil && e.kind == kindDirectory && was.kind == kindDirectory && e.stat.inode == was.stat.inode {
		e.dir = was.dir
	}
	if !read && was != nil && e == *was {
		s.keep(was)
		return
	}
	s.differ()
	if read {
		s.reads = append(s.reads, len(s.entries))
	}
	s.entries = append(s.entries, e)
}

// differ begins to write down.
func (s *sheet) differ() {
	if s.same || s.entries == nil {
		s.entries = append(make([]entry, 0, max(s.room, len(s.entries))), s.entries...)
		s.same = false
	}
}

// done says that there are no more names.
func (s *sheet) done() {
	if s.same && len(s.entries) < len(s.old.entries) {
		s.differ()
	}
}

// set changes an entry, of a directory that is listed. It may be called from
// several goroutines; what others read is not changed under them.
func (s *sheet) set(i int, e entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.same {
		s.entries, s.same = slices.Clone(s.entries), false
	}
	s.entries[i] = e
}

// owned is the entries, to be changed.
func (s *sheet) owned() []entry {
	if s.same {
		return slices.Clone(s.entries)
	}
	return s.entries
}

// firstError keeps the first of the errors of several goroutines.
type firstError struct {
	mu  sync.Mutex
	err error
}

func (f *firstError) set(err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *firstError) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
