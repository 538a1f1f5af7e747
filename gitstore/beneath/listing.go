//go:build unix

package beneath

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"golang.org/x/sys/unix"
)

// Listing is the names of one directory, sorted in byte order, in memory that
// the next listing uses again: a walk lists any number of directories without
// allocating anything for each. The zero value is ready for use. What it gives
// is valid until it is used again; it is not safe for concurrent use.
type Listing struct {
	data  []byte // with each name, and a NUL after it
	names []listed
}

// listed is a name in the data of a Listing.
type listed struct {
	key     uint64 // the first eight bytes, by which names are sorted first
	at, end uint32
	kind    Kind
}

// listingRoom is how much room a Listing has for what one call may give.
const listingRoom = 32 << 10

// Len is how many names there are, without "." and "..".
func (l *Listing) Len() int { return len(l.names) }

// Name is the i-th name, to be read only.
func (l *Listing) Name(i int) []byte { return l.data[l.names[i].at:l.names[i].end] }

// Kind is the kind of the i-th name, Unknown where the file system does not
// tell.
func (l *Listing) Kind(i int) Kind { return l.names[i].kind }

// Has tells whether a name is listed.
func (l *Listing) Has(name string) bool {
	key := sortKey(name)
	_, ok := slices.BinarySearchFunc(l.names, key, func(n listed, key uint64) int {
		if c := cmp.Compare(n.key, key); c != 0 {
			return c
		}
		return compareName(l.data[n.at:n.end], name)
	})
	return ok
}

func compareName(a []byte, b string) int {
	switch {
	case string(a) == b:
		return 0
	case string(a) < b:
		return -1
	}
	return 1
}

// Size is how many bytes of memory the Listing holds, for who keeps it.
func (l *Listing) Size() int { return cap(l.data) + 24*cap(l.names) }

// sortKey orders names as their first eight bytes do; no name holds a NUL.
func sortKey[text string | []byte](name text) uint64 {
	var head [8]byte
	copy(head[:], name)
	return binary.BigEndian.Uint64(head[:])
}

// add notes the name at these positions of the data, unless it is "." or "..".
func (l *Listing) add(at, end int, kind Kind) {
	name := l.data[at:end]
	if string(name) == "." || string(name) == ".." {
		return
	}
	l.names = append(l.names, listed{sortKey(name), uint32(at), uint32(end), kind})
}

// Reset forgets all names.
func (l *Listing) Reset() { l.data, l.names = l.data[:0], l.names[:0] }

// Add adds a name that is known without a listing; names are added in byte order.
func (l *Listing) Add(name string, kind Kind) {
	at := len(l.data)
	l.data = append(append(l.data, name...), 0)
	l.names = append(l.names, listed{sortKey(name), uint32(at), uint32(at + len(name)), kind})
}

// List lists the whole directory from its start into l.
func (d *Dir) List(l *Listing) error { return d.ListSome(l, math.MaxInt) }

// ListSome is List that ends once it has so many names, whichever the file system gives
// first. It may list some more.
func (d *Dir) ListSome(l *Listing, most int) error {
	l.Reset()
	err := d.rewind()
	if err == nil {
		err = listDirectory(d.fd, l, most)
	}
	if err != nil {
		return pathError("readdir", d.path, err)
	}
	slices.SortFunc(l.names, func(a, b listed) int {
		if c := cmp.Compare(a.key, b.key); c != 0 {
			return c
		}
		return bytes.Compare(l.data[a.at:a.end], l.data[b.at:b.end])
	})
	return nil
}

// rewind goes back to the start of a directory that was listed before.
func (d *Dir) rewind() error {
	if !d.read {
		d.read = true
		return nil
	}
	_, err := unix.Seek(d.fd, 0, unix.SEEK_SET)
	return err
}

// LstatListed is Lstat for the i-th name that l holds, a listing of this
// directory.
func (d *Dir) LstatListed(l *Listing, i int) (Stat, error) {
	n := l.names[i]
	st, err := lstatTerminated(d.fd, l.data[n.at:n.end+1])
	if err != nil {
		return Stat{}, pathError("lstat", d.join(string(l.Name(i))), err)
	}
	return st, nil
}
