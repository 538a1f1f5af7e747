package gitstore

import "bytes"

// treeReader reads the entries of a tree one after the other, and keeps none:
// who looks for one, or compares trees that are nearly the same, needs few.
type treeReader struct {
	head rawEntry // if ok
	ok   bool
	rest []byte
	read int
}

// rawEntry is a tree entry whose name is a part of the tree's bytes.
type rawEntry struct {
	name []byte
	mode Mode
	id   ID
}

func (e *rawEntry) entry() TreeEntry {
	return TreeEntry{Name: string(e.name), Mode: e.mode, ID: e.id}
}

// compare is Git's order, as compareEntries is.
func (e *rawEntry) compare(other *rawEntry) int {
	n := min(len(e.name), len(other.name))
	if c := bytes.Compare(e.name[:n], other.name[:n]); c != 0 {
		return c
	}
	return int(byteAt(e.name, n, e.mode.IsDir())) - int(byteAt(other.name, n, other.mode.IsDir()))
}

// readTree begins to read a tree: its first entry, if any, is the head. The data
// are not to change.
func readTree(data []byte) (treeReader, error) {
	r := treeReader{rest: data}
	err := r.next()
	return r, err
}

// next goes on to the next entry. After the last one, or one that does not
// parse, there is no head.
func (r *treeReader) next() error {
	r.ok = false
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
	r.head.mode, r.head.name = mode, r.rest[space+1:nul]
	copy(r.head.id[:], r.rest[nul+1:])
	r.rest, r.ok = r.rest[nul+1+IDSize:], true
	r.read++
	return nil
}

// treeReaderOrNone is treeReader for an id that is zero where there is no tree.
func (o *Objects) treeReaderOrNone(id ID) (treeReader, error) {
	if id.IsZero() {
		return treeReader{}, nil
	}
	return o.treeReader(id)
}

// treeReader begins to read a stored tree.
func (o *Objects) treeReader(id ID) (treeReader, error) {
	if id == EmptyTree() {
		return treeReader{}, nil
	}
	data, err := o.recalled(id, TypeTree)
	if err != nil {
		return treeReader{}, err
	}
	r, err := readTree(data)
	return r, AboutObject(id, err)
}
