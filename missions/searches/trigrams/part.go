package trigrams

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/bits"
	"os"
	"sort"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// A part is a file:
//
//	pages   trigrams in their order, each with its postings
//	head    the conversations with their pieces, and where the pages are
//	tail    how long the head is, its checksum, magic
//
// All numbers but those of the tail are varints. Postings are the numbers of pieces: of few
// pieces how many are between them, of many a bit for each.
const (
	magic     = "umbra search 2\n"
	tailBytes = 8 + len(magic)
	// pageBytes is from when on a page is full. A search reads one for each trigram.
	pageBytes = 8 << 10
	// mostHead keeps a damaged length from costing memory.
	mostHead = 64 << 20
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	errDamaged = errors.New("damaged")
)

// Conversation is what is indexed of one.
type Conversation struct {
	Key    string // names bytes that never change
	Pieces []Piece
}

// Piece is a part of a conversation that is read for itself. Its places are those of who
// has it indexed.
type Piece struct {
	Begins, Read int64 // where it begins, and how far was read when that was found
	Ends, Sought int64 // the same of the next one
	Last         bool  // of the conversation, as it was
	// No text of it is newer or older; in nanoseconds.
	Newest, Oldest int64
	From           []string
}

// page is where some trigrams are, from first on.
type page struct {
	first  Gram
	offset int64
	length int
	sum    uint32
}

// part is an open file.
type part struct {
	file          *os.File
	path          string
	size          int64
	conversations []Conversation
	first         []int // the numbers of the conversations' first pieces
	pieces        int
	pages         []page
	found         bitmap // what the query may be in; nil: not looked yet
}

// openPart opens a part that a program of the same version has written.
func openPart(path, version string) (*part, error) {
	f, info, err := disk.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	p := &part{file: f, path: path, size: info.Size()}
	if err := p.readHead(version); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, nil
}

func (p *part) readHead(version string) error {
	var tail [tailBytes]byte
	if _, err := p.file.ReadAt(tail[:], p.size-int64(tailBytes)); err != nil || string(tail[8:]) != magic {
		return errDamaged
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	at := p.size - int64(tailBytes) - length
	if at < 0 || length > mostHead {
		return errDamaged
	}
	head := make([]byte, length)
	if _, err := p.file.ReadAt(head, at); err != nil || crc32.Checksum(head, castagnoli) != binary.LittleEndian.Uint32(tail[4:]) {
		return errDamaged
	}
	d := decoder{rest: head}
	if d.text() != version {
		return errDamaged
	}
	for range d.count() {
		c := Conversation{Key: d.text()}
		p.first = append(p.first, p.pieces)
		for range d.count() {
			c.Pieces = append(c.Pieces, d.piece())
		}
		p.pieces += len(c.Pieces)
		p.conversations = append(p.conversations, c)
	}
	offset := int64(0)
	for range d.count() {
		one := page{first: Gram(d.number()), offset: offset, length: int(d.number()), sum: uint32(d.number())}
		if one.length < 0 || one.length > int(at-offset) {
			return errDamaged
		}
		offset += int64(one.length)
		p.pages = append(p.pages, one)
	}
	if d.failed || offset != at {
		return errDamaged
	}
	return nil
}

func (p *part) readPage(n int) ([]byte, error) {
	one := p.pages[n]
	data := make([]byte, one.length)
	if _, err := p.file.ReadAt(data, one.offset); err != nil {
		return nil, errDamaged
	}
	if crc32.Checksum(data, castagnoli) != one.sum {
		return nil, errDamaged
	}
	return data, nil
}

// having is which pieces have a trigram.
func (p *part) having(g Gram) (bitmap, error) {
	n := sort.Search(len(p.pages), func(i int) bool { return p.pages[i].first > g }) - 1
	if n < 0 {
		return newBitmap(p.pieces), nil
	}
	data, err := p.readPage(n)
	if err != nil {
		return nil, err
	}
	for d := (decoder{rest: data}); len(d.rest) > 0 && !d.failed; {
		at, list := d.entry()
		if at == g {
			set := newBitmap(p.pieces)
			if !list.each(p.pieces, set.set) {
				return nil, errDamaged
			}
			return set, nil
		}
		if at > g {
			break
		}
	}
	return newBitmap(p.pieces), nil
}

// postings are the numbers of the pieces that have a trigram.
type postings struct {
	encoded []byte
	dense   bool // a bit for each
}

// postingsOf are numbers in their order.
func postingsOf(pieces []int) postings {
	var p postings
	last := -1
	for _, n := range pieces {
		p.encoded = binary.AppendUvarint(p.encoded, uint64(n-last-1))
		last = n
	}
	if size := last/8 + 1; size < len(p.encoded) {
		p.encoded, p.dense = p.encoded[:size], true
		clear(p.encoded)
		for _, n := range pieces {
			p.encoded[n/8] |= 1 << (n % 8)
		}
	}
	return p
}

// each calls a function for each number in their order; false if they are not all below a
// limit.
func (p postings) each(limit int, take func(int)) bool {
	if p.dense {
		for i, eight := range p.encoded {
			for ; eight != 0; eight &= eight - 1 {
				n := 8*i + bits.TrailingZeros8(eight)
				if n >= limit {
					return false
				}
				take(n)
			}
		}
		return true
	}
	next := uint64(0)
	for rest := p.encoded; len(rest) > 0; next++ {
		gap, n := binary.Uvarint(rest)
		if n <= 0 || gap >= uint64(limit) {
			return false
		}
		if next += gap; next >= uint64(limit) {
			return false
		}
		rest = rest[n:]
		take(int(next))
	}
	return true
}

// look finds the pieces that have all trigrams. One that can't be looked up rules out
// nothing.
func (p *part) look(all []Gram) {
	p.found = newBitmap(p.pieces)
	for i := range p.found {
		p.found[i] = ^uint64(0)
	}
	for _, g := range all {
		if set, err := p.having(g); err == nil && !p.found.and(set) {
			return
		}
	}
}

// decoder reads what is proved by a checksum, and yet trusts no length.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) number() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.rest, d.failed = nil, true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// count is a number of things, each of which takes a byte at least.
func (d *decoder) count() int {
	n := d.number()
	if n < 0 || n > int64(len(d.rest)) {
		d.rest, d.failed = nil, true
		return 0
	}
	return int(n)
}

func (d *decoder) bytes() []byte {
	n := d.count()
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) text() string { return string(d.bytes()) }

func (d *decoder) piece() (p Piece) {
	p.Begins, p.Read, p.Ends, p.Sought = d.number(), d.number(), d.number(), d.number()
	p.Last, p.Newest, p.Oldest = d.number() != 0, d.number(), d.number()
	for range d.count() {
		p.From = append(p.From, d.text())
	}
	return p
}

func (d *decoder) entry() (Gram, postings) {
	g, n := d.number(), d.number()
	p := postings{dense: n < 0}
	if n = max(n, -n); n < 0 || n > int64(len(d.rest)) {
		d.rest, d.failed = nil, true
		return 0, p
	}
	p.encoded, d.rest = d.rest[:n], d.rest[n:]
	return Gram(g), p
}

// encoder is the other side.
type encoder struct{ b []byte }

func (e *encoder) number(n int64) { e.b = binary.AppendVarint(e.b, n) }

func (e *encoder) bytes(b []byte) {
	e.number(int64(len(b)))
	e.b = append(e.b, b...)
}

func (e *encoder) piece(p Piece) {
	last := int64(0)
	if p.Last {
		last = 1
	}
	for _, n := range []int64{p.Begins, p.Read, p.Ends, p.Sought, last, p.Newest, p.Oldest, int64(len(p.From))} {
		e.number(n)
	}
	for _, from := range p.From {
		e.bytes([]byte(from))
	}
}

// partWriter writes a part.
type partWriter struct {
	w     io.Writer
	page  encoder
	first Gram
	head  encoder // of the pages
	pages int
}

// add takes the next trigram, with the numbers of its pieces in their order.
func (w *partWriter) add(g Gram, pieces []int) error {
	if len(w.page.b) == 0 {
		w.first = g
	}
	list := postingsOf(pieces)
	length := int64(len(list.encoded))
	if list.dense {
		length = -length
	}
	w.page.number(int64(g))
	w.page.number(length)
	w.page.b = append(w.page.b, list.encoded...)
	if len(w.page.b) >= pageBytes {
		return w.flush()
	}
	return nil
}

func (w *partWriter) flush() error {
	if len(w.page.b) == 0 {
		return nil
	}
	_, err := w.w.Write(w.page.b)
	w.head.number(int64(w.first))
	w.head.number(int64(len(w.page.b)))
	w.head.number(int64(crc32.Checksum(w.page.b, castagnoli)))
	w.pages++
	w.page.b = w.page.b[:0]
	return err
}

// finish writes what names the pieces.
func (w *partWriter) finish(version string, all []Conversation) error {
	if err := w.flush(); err != nil {
		return err
	}
	var head encoder
	head.bytes([]byte(version))
	head.number(int64(len(all)))
	for _, c := range all {
		head.bytes([]byte(c.Key))
		head.number(int64(len(c.Pieces)))
		for _, p := range c.Pieces {
			head.piece(p)
		}
	}
	head.number(int64(w.pages))
	head.b = append(head.b, w.head.b...)
	sum := crc32.Checksum(head.b, castagnoli)
	length := len(head.b)
	head.b = binary.LittleEndian.AppendUint32(head.b, uint32(length))
	head.b = binary.LittleEndian.AppendUint32(head.b, sum)
	_, err := w.w.Write(append(head.b, magic...))
	return err
}
