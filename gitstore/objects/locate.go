package objects

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sort"

	"github.com/umbra-vcs/umbra/gitstore"
)

// Location is where an object is stored: in a pack, or in a file of its own.
// The zero location is nowhere.
type Location struct {
	Pack   *Pack
	Offset int64
	Loose  string // path
}

// Nowhere tells of the zero Location.
func (l Location) Nowhere() bool { return l.Pack == nil && l.Loose == "" }

// Locate looks up many objects at once, ids being sorted, each once: an index
// on disk is read front to back instead of once an object. It does not list
// packs again, and passes over what cannot be read.
func (o *Reader) Locate(ids []gitstore.ID) []Location {
	at := make([]Location, len(ids))
	rest := make([]int, len(ids))
	for i := range rest {
		rest[i] = i
	}
	for _, d := range o.Dirs() {
		for _, p := range d.Packs {
			rest = p.locate(ids, at, rest)
		}
		rest = d.locateLoose(ids, at, rest)
	}
	return at
}

// LocateOne looks id up without listing packs again: a false no only costs a second
// copy. An index that cannot be read is passed over for the same reason. Absent,
// if not nil, spares the look for loose objects.
func (o *Reader) LocateOne(id gitstore.ID, absent *Fans) (Location, error) {
	for i, d := range o.Dirs() {
		p, off, ok, _ := d.find(id)
		if ok {
			return Location{Pack: p, Offset: off}, nil
		}
		if i == 0 && absent != nil && absent.lack(d, id) {
			continue
		}
		ok, err := d.hasLoose(id)
		if err != nil {
			return Location{}, gitstore.AboutObject(id, err)
		}
		if ok {
			return Location{Loose: d.LoosePath(id)}, nil
		}
	}
	return Location{}, nil
}

// LocateBeside is Locate as if some files were gone: packs, by their paths without suffix,
// and loose objects.
func (o *Reader) LocateBeside(ids []gitstore.ID, gone map[string]bool) []Location {
	at := make([]Location, len(ids))
	rest := make([]int, len(ids))
	for i := range rest {
		rest[i] = i
	}
	for _, d := range o.Dirs() {
		for _, p := range d.Packs {
			if !gone[p.Base] {
				rest = p.locate(ids, at, rest)
			}
		}
		before := rest
		rest = d.locateLoose(ids, at, slices.Clone(before))
		for _, i := range before {
			if gone[at[i].Loose] {
				at[i], rest = Location{}, append(rest, i)
			}
		}
		slices.Sort(rest)
	}
	return at
}

// locate notes which of ids[rest] are in the pack and returns the others.
func (p *Pack) locate(ids []gitstore.ID, at []Location, rest []int) []int {
	if len(rest) == 0 || p.Broken != nil {
		return rest
	}
	left := rest[:0:0]
	for from := 0; from < len(rest); {
		to := from + 1
		for to < len(rest) && ids[rest[to]][0] == ids[rest[from]][0] {
			to++
		}
		left = p.locateBucket(ids, at, rest[from:to], left)
		from = to
	}
	return left
}

// locateBucket does so for ids that begin with the same byte.
func (p *Pack) locateBucket(ids []gitstore.ID, at []Location, rest, left []int) []int {
	lo, hi := p.bucket(ids[rest[0]][0])
	const single = 4 << 10 // what one search costs, in bytes read at once
	if p.whole == nil && (hi-lo)*gitstore.IDSize > len(rest)*single {
		for _, i := range rest {
			if off, ok, err := p.Find(ids[i]); ok && err == nil {
				at[i] = Location{Pack: p, Offset: off}
			} else {
				left = append(left, i)
			}
		}
		return left
	}
	names, err := p.names(lo, hi)
	if err != nil {
		return append(left, rest...)
	}
	smalls, err := p.smalls(lo, hi)
	if err != nil {
		return append(left, rest...)
	}
	n := 0
	for _, i := range rest {
		n += sort.Search(hi-lo-n, func(k int) bool {
			return bytes.Compare(names[(n+k)*gitstore.IDSize:(n+k+1)*gitstore.IDSize], ids[i][:]) >= 0
		})
		if n < hi-lo && gitstore.ID(names[n*gitstore.IDSize:(n+1)*gitstore.IDSize]) == ids[i] {
			if off, err := p.largeOffset(binary.BigEndian.Uint32(smalls[n*4:])); err == nil {
				at[i] = Location{Pack: p, Offset: off}
				continue
			}
		}
		left = append(left, i)
	}
	return left
}

func (d *Dir) locateLoose(ids []gitstore.ID, at []Location, rest []int) []int {
	left := rest[:0:0]
	var there bool
	for n, i := range rest {
		if n == 0 || ids[i][0] != ids[rest[n-1]][0] {
			_, err := os.Lstat(d.path + "/" + ids[i].String()[:2])
			there = !errors.Is(err, fs.ErrNotExist)
		}
		if there {
			if ok, err := d.hasLoose(ids[i]); ok && err == nil {
				at[i].Loose = d.LoosePath(ids[i])
				continue
			}
		}
		left = append(left, i)
	}
	return left
}

// BlobSize is the size of the blob at a location, of which no more is read than
// that needs; errNoBlob if it is known to be no blob. The type of a delta is
// not followed to its base: whoever asks has the id from where Git keeps blobs.
func (o *Reader) BlobSize(at Location) (int64, error) {
	if at.Pack == nil {
		t, size, err := o.looseHeader(at.Loose)
		if err == nil && t != gitstore.TypeBlob {
			err = errNoBlob
		}
		return size, err
	}
	p := at.Pack
	f, err := p.open.acquire(p.Base + ".pack")
	if err != nil {
		return 0, err
	}
	defer p.open.release(f)
	h, err := p.header(f, at.Offset)
	switch {
	case err != nil:
		return 0, err
	case h.kind == gitstore.TypeBlob:
		return h.size, nil
	case h.kind <= gitstore.TypeTag:
		return 0, errNoBlob
	}
	return p.deltaSize(o, f, h)
}

var errNoBlob = errors.New("not a blob")

// deltaSize reads the size of what a delta makes, which it begins with: that of
// its base, then its own, both in groups of seven bits (gitformat-pack(5)).
func (p *Pack) deltaSize(o *Reader, f *cachedFile, h packed) (int64, error) {
	const most = 20 // bytes of two numbers
	z, err := o.inflaters.get(bufio.NewReaderSize(io.NewSectionReader(f, h.data, f.size-h.data), inputBuffer(0)))
	if err != nil {
		return 0, gitstore.Damaged("inflate from %s.pack: %v", p.Base, err)
	}
	defer o.inflaters.put(z)
	buf := make([]byte, min(h.size, most))
	if _, err := io.ReadFull(z, buf); err != nil {
		return 0, gitstore.Damaged("inflate from %s.pack: %v", p.Base, err)
	}
	_, rest := deltaNumber(buf)
	size, rest := deltaNumber(rest)
	if rest == nil {
		return 0, gitstore.Damaged("delta in %s.pack has no size", p.Base)
	}
	return size, nil
}

// deltaNumber takes a number off the front; the rest is nil if there was none.
func deltaNumber(b []byte) (n int64, rest []byte) {
	for i, c := range b {
		if i > 8 {
			break
		}
		n |= int64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return n, b[i+1:]
		}
	}
	return 0, nil
}
