package usergit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// link is the extension of a split index: what to do to the shared index's
// entries before those of the split one are added.
type link struct {
	base    ID    // checksum of the shared index; zero if there is none
	deleted []int // positions in the shared index, ascending
	changed []int
}

func decodeLink(data []byte, format ObjectFormat) (*link, error) {
	r := &reader{data: data}
	l := &link{base: r.id(format)}
	if r.err != nil || len(r.data) == 0 {
		return l, r.err
	}
	var err error
	if l.deleted, err = decodeBitmap(r); err != nil {
		return nil, err
	}
	if l.changed, err = decodeBitmap(r); err != nil {
		return nil, err
	}
	return l, nil
}

// maxSharedEntries bounds what a damaged bitmap can make us allot.
const maxSharedEntries = 1 << 26

// decodeBitmap lists the set bits of an EWAH bitmap: its length in bits, the
// number of 64-bit words, the words, the position of the last marker word. A
// marker says how many words of equal bits follow (bit 0: which; 32 bits: how
// many) and how many literal words then come (31 bits). See "EWAH" in
// gitformat-bitmap(5).
func decodeBitmap(r *reader) ([]int, error) {
	length := r.uint32()
	words := r.bytes(8 * int(r.uint32()))
	r.uint32()
	if r.err != nil {
		return nil, r.err
	}
	if length > maxSharedEntries {
		return nil, fmt.Errorf("a bitmap of %d bits", length)
	}
	var set []int
	at := uint64(0)
	for len(words) > 0 {
		marker := binary.BigEndian.Uint64(words)
		words = words[8:]
		run, literals := marker>>1&(1<<32-1), marker>>33
		if at+64*run > uint64(length)+63 || 8*literals > uint64(len(words)) {
			return nil, errors.New("a bitmap longer than it says")
		}
		if marker&1 != 0 {
			for end := at + 64*run; at < end; at++ {
				set = append(set, int(at))
			}
		} else {
			at += 64 * run
		}
		for range literals {
			word := binary.BigEndian.Uint64(words)
			words = words[8:]
			for bit := range uint64(64) {
				if word&(1<<bit) != 0 {
					set = append(set, int(at+bit))
				}
			}
			if at += 64; at > uint64(length)+63 {
				return nil, errors.New("a bitmap longer than it says")
			}
		}
	}
	return set, nil
}

// merge puts the shared index under the split one.
func (x *indexFile) merge(path string, format ObjectFormat) error {
	data, _, err := readIndexFile(path, format)
	if err != nil {
		return fmt.Errorf("read the shared index: %w", err)
	}
	shared, sum, err := decodeFile(path, data, format)
	if err != nil {
		return err
	}
	if sum != x.link.base || shared.link != nil {
		return &DamagedError{Path: path, Why: "not the shared index that is asked for"}
	}
	entries, err := x.link.apply(shared.entries, x.entries)
	if err != nil {
		return &DamagedError{Path: path, Why: err.Error()}
	}
	x.entries = entries
	x.sparse = x.sparse || shared.sparse
	return nil
}

// apply replaces, in order, the changed entries of the shared index by the
// first entries of the split one, which have no path of their own; drops the
// deleted ones; and adds the rest of the split one, which may supersede some.
func (l *link) apply(shared, split []Entry) ([]Entry, error) {
	merged := slices.Clone(shared)
	if len(l.changed) > len(split) {
		return nil, errors.New("fewer entries than the bitmap of changes")
	}
	for i, at := range l.changed {
		if at >= len(merged) || split[i].Path != "" {
			return nil, errors.New("a change of no entry")
		}
		path := merged[at].Path
		merged[at] = split[i]
		merged[at].Path = path
	}
	added := split[len(l.changed):]
	drop := make([]bool, len(merged))
	for _, at := range l.deleted {
		if at >= len(merged) {
			return nil, errors.New("a deletion of no entry")
		}
		drop[at] = true
	}
	type key struct {
		path  string
		stage int
	}
	superseded := make(map[key]bool, len(added))
	for _, e := range added {
		if e.Path == "" {
			return nil, errors.New("an entry without path")
		}
		superseded[key{e.Path, e.Stage}] = true
	}
	kept := merged[:0]
	for i, e := range merged {
		if !drop[i] && !superseded[key{e.Path, e.Stage}] {
			kept = append(kept, e)
		}
	}
	kept = append(kept, added...)
	slices.SortFunc(kept, compareEntries)
	return kept, nil
}
