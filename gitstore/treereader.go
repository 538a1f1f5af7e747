package gitstore

import "bytes"

// TreeReader reads the entries of a tree one after the other, and keeps none:
// who looks for one, or compares trees that are nearly the same, needs few.
type TreeReader struct {
	Head RawEntry // if ok
	OK   bool
	rest []byte
	read int
}

// RawEntry is a tree entry whose name is a part of the tree's bytes.
type RawEntry struct {
	Name []byte
	Mode Mode
	ID   ID
}

// Entry gives it with a name of its own.
func (e *RawEntry) Entry() TreeEntry {
	return TreeEntry{Name: string(e.Name), Mode: e.Mode, ID: e.ID}
}

// Compare is Git's order, as compareEntries is.
func (e *RawEntry) Compare(other *RawEntry) int {
	n := min(len(e.Name), len(other.Name))
	if c := bytes.Compare(e.Name[:n], other.Name[:n]); c != 0 {
		return c
	}
	return int(byteAt(e.Name, n, e.Mode.IsDir())) - int(byteAt(other.Name, n, other.Mode.IsDir()))
}

// ReadTree begins to read a tree: its first entry, if any, is the head. The data
// are not to change.
func ReadTree(data []byte) (TreeReader, error) {
	r := TreeReader{rest: data}
	err := r.Next()
	return r, err
}

// Next goes on to the next entry. After the last one, or one that does not
// parse, there is no head.
func (r *TreeReader) Next() error {
	r.OK = false
	if len(r.rest) == 0 {
		return nil
	}
	space := bytes.IndexByte(r.rest, ' ')
	nul := bytes.IndexByte(r.rest, 0)
	if space <= 0 || space > 6 || nul < space || len(r.rest) < nul+1+IDSize {
		return Damaged("tree entry %d does not parse", r.read)
	}
	mode, err := parseMode(r.rest[:space])
	if err != nil {
		return err
	}
	r.Head.Mode, r.Head.Name = mode, r.rest[space+1:nul]
	copy(r.Head.ID[:], r.rest[nul+1:])
	r.rest, r.OK = r.rest[nul+1+IDSize:], true
	r.read++
	return nil
}
