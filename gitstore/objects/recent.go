package objects

import (
	"slices"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
)

const (
	// recentBytes is how much of the objects read or written last is remembered.
	recentBytes = 4 << 20
	// recentLargest is up to which size one is remembered: a flat directory of
	// thousands would push everything else out.
	recentLargest = 128 << 10
)

// recent remembers the trees, commits and documents of records that were read
// last, verified, or written: a snapshot begins from the one before, and a history
// walk, a plan and a proof read the same ones again and again. An id
// always means the same bytes, so nothing here is ever wrong; that an object is
// still stored is for Has to say. The zero value is ready.
type recent struct {
	mu         sync.Mutex
	young, old map[gitstore.ID]recalled
	size       int // of young
}

type recalled struct {
	kind gitstore.ObjectType
	data []byte
}

func (r *recent) get(id gitstore.ID, kind gitstore.ObjectType) ([]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found, ok := r.young[id]; ok {
		return found.data, found.kind == kind
	}
	found, ok := r.old[id]
	if !ok {
		return nil, false
	}
	r.keep(id, found)
	return found.data, found.kind == kind
}

func (r *recent) put(id gitstore.ID, kind gitstore.ObjectType, data []byte) {
	if len(data) > recentLargest {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(id, recalled{kind, data})
}

// keep makes what was young old once it is half of all, and so drops what was
// not asked for in all that time.
func (r *recent) keep(id gitstore.ID, found recalled) {
	if r.size+len(found.data) > recentBytes/2 {
		r.old, r.young, r.size = r.young, nil, 0
	}
	if r.young == nil {
		r.young = make(map[gitstore.ID]recalled)
	}
	if _, twice := r.young[id]; !twice {
		r.young[id] = found
		r.size += len(found.data)
	}
}

// forget makes the next read of everything one of the disk.
func (r *recent) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.young, r.old, r.size = nil, nil, 0
}

// recalled is Typed for what may have been read before. The slice is shared.
func (o *Reader) recalled(id gitstore.ID, kind gitstore.ObjectType) ([]byte, error) {
	if data, ok := o.recent.get(id, kind); ok {
		return data, nil
	}
	data, err := o.Typed(id, kind)
	if err == nil {
		o.recent.put(id, kind, data)
	}
	return data, err
}

// Document is Blob for what records hold, which is read again at each snapshot.
func (o *Reader) Document(id gitstore.ID) ([]byte, error) {
	data, err := o.recalled(id, gitstore.TypeBlob)
	return slices.Clone(data), err
}

// Remember keeps an object that was just written, as if it had been read.
func (o *Reader) Remember(id gitstore.ID, kind gitstore.ObjectType, data []byte) {
	o.recent.put(id, kind, data)
}

// Remembers tells whether an object was read or written a short while ago. It may be
// stored no more.
func (o *Reader) Remembers(id gitstore.ID, kind gitstore.ObjectType) bool {
	_, ok := o.recent.get(id, kind)
	return ok
}

// ForgetRecent makes the next read of everything one of the disk.
func (o *Reader) ForgetRecent() { o.recent.forget() }
