package trigrams

import (
	"bufio"
	"cmp"
	"container/heap"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/journal"
)

// Index is the parts of a directory, as they were when it was opened. It is not safe for
// concurrent use.
type Index struct {
	parts []*part
	known map[string][]place
	query []Gram
}

// place is where the pieces of a conversation are.
type place struct {
	part         *part
	conversation int
}

// ending is how the names of parts end.
const ending = ".part"

// Open opens the parts that a program of the same version has written. What can't be read
// is left out.
func Open(dir, version string) *Index {
	x := &Index{known: map[string][]place{}}
	entries, _ := os.ReadDir(dir) // none is no error, nor is anything else that is wrong with a cache
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ending {
			continue
		}
		p, err := openPart(filepath.Join(dir, e.Name()), version)
		if err != nil {
			continue
		}
		x.parts = append(x.parts, p)
		for i, c := range p.conversations {
			x.known[c.Key] = append(x.known[c.Key], place{p, i})
		}
	}
	return x
}

// Close closes the parts.
func (x *Index) Close() error {
	var err error
	for _, p := range x.parts {
		err = errors.Join(err, p.file.Close())
	}
	x.parts = nil
	return err
}

// Ask says what May is asked for from now on: pieces that have all of these trigrams.
func (x *Index) Ask(all []Gram) {
	x.query = all
	for _, p := range x.parts {
		p.found = nil
	}
}

// Indexed is a piece that is in an index.
type Indexed struct {
	Piece
	part   *part
	number int
}

// Pieces are what is indexed of a conversation, in no order, some perhaps twice.
func (x *Index) Pieces(key string) (all []Indexed) {
	for _, at := range x.known[key] {
		for i, p := range at.part.conversations[at.conversation].Pieces {
			all = append(all, Indexed{p, at.part, at.part.first[at.conversation] + i})
		}
	}
	return all
}

// May reports whether a piece may have all that was asked for.
func (x *Index) May(p Indexed) bool {
	if len(x.query) == 0 {
		return true
	}
	if p.part.found == nil {
		p.part.look(x.query)
	}
	return p.part.found.has(p.number)
}

// Bytes is how large the parts are.
func (x *Index) Bytes() (n int64) {
	for _, p := range x.parts {
		n += p.size
	}
	return n
}

// Batch is what a part is to be made of.
type Batch struct {
	conversations []Conversation
	grams         [][]Gram // of each piece
}

// Add takes in a piece, after those of its conversation that come before it.
func (b *Batch) Add(key string, p Piece, all []Gram) {
	if n := len(b.conversations); n == 0 || b.conversations[n-1].Key != key {
		b.conversations = append(b.conversations, Conversation{Key: key})
	}
	last := &b.conversations[len(b.conversations)-1]
	last.Pieces = append(last.Pieces, p)
	b.grams = append(b.grams, all)
}

// Pieces is how many there are.
func (b *Batch) Pieces() int { return len(b.grams) }

// Write makes a part of a batch, and empties that. One process at a time writes into a
// directory.
func (b *Batch) Write(dir, version string) error {
	if len(b.grams) == 0 {
		return nil
	}
	var all []source
	for n, list := range b.grams {
		all = append(all, &pieceSource{n, list})
	}
	conversations := b.conversations
	b.conversations, b.grams = nil, nil
	return writePart(dir, version, conversations, all)
}

func writePart(dir, version string, conversations []Conversation, all []source) error {
	return journal.Place(filepath.Join(dir, rand.Text()+ending), 0o600, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(w, 1<<20)
		out := &partWriter{w: buffered}
		if err := join(all, out.add); err != nil {
			return err
		}
		if err := out.finish(version, conversations); err != nil {
			return err
		}
		return buffered.Flush()
	}, journal.PlaceOptions{Volatile: true})
}

// source gives trigrams in their order, each with the numbers of its pieces.
type source interface {
	// next is the next trigram; none where ok is false.
	next() (g Gram, pieces []int, ok bool, err error)
}

// pieceSource is the trigrams of a piece.
type pieceSource struct {
	number int
	rest   []Gram
}

func (s *pieceSource) next() (Gram, []int, bool, error) {
	if len(s.rest) == 0 {
		return 0, nil, false, nil
	}
	g := s.rest[0]
	s.rest = s.rest[1:]
	return g, []int{s.number}, true, nil
}

// partSource is the trigrams of a part, whose pieces have other numbers now; below 0 for
// those that are left out.
type partSource struct {
	part    *part
	numbers []int
	page    int
	rest    decoder
}

func (s *partSource) next() (Gram, []int, bool, error) {
	for {
		for len(s.rest.rest) == 0 {
			if s.page == len(s.part.pages) {
				return 0, nil, false, nil
			}
			data, err := s.part.readPage(s.page)
			if err != nil {
				return 0, nil, false, err
			}
			s.page, s.rest = s.page+1, decoder{rest: data}
		}
		g, list := s.rest.entry()
		var pieces []int
		sound := list.each(len(s.numbers), func(at int) {
			if n := s.numbers[at]; n >= 0 {
				pieces = append(pieces, n)
			}
		})
		if s.rest.failed || !sound {
			return 0, nil, false, errDamaged
		}
		if len(pieces) > 0 {
			return g, pieces, true, nil
		}
	}
}

// joined is a source, and what it gives next.
type joined struct {
	source
	gram   Gram
	pieces []int
	order  int
}

// queue has the source first whose trigram is next.
type queue []*joined

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].gram, q[j].gram), cmp.Compare(q[i].order, q[j].order)) < 0
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*joined)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// join gives each trigram of all sources once. The pieces of one source come before those
// of the next.
func join(all []source, each func(Gram, []int) error) error {
	var q queue
	for i, s := range all {
		g, pieces, ok, err := s.next()
		if err != nil {
			return err
		}
		if ok {
			q = append(q, &joined{s, g, pieces, i})
		}
	}
	heap.Init(&q)
	var pieces []int
	for len(q) > 0 {
		at := q[0].gram
		pieces = pieces[:0]
		for len(q) > 0 && q[0].gram == at {
			first := q[0]
			pieces = append(pieces, first.pieces...)
			g, more, ok, err := first.next()
			if err != nil {
				return err
			}
			if !ok {
				heap.Pop(&q)
				continue
			}
			first.gram, first.pieces = g, more
			heap.Fix(&q, 0)
		}
		if err := each(at, pieces); err != nil {
			return err
		}
	}
	return nil
}

const (
	// mostSmall is how many small parts there may be: a search asks each.
	mostSmall = 8
	// largePieces makes a part a large one, which stays as it is.
	largePieces = 16384
)

// Tidy makes one part of the small ones where there are many, without the pieces that are
// of no use any more, and removes what no program of this version can read, if the
// directory is that of the index. It is for who writes.
func Tidy(dir, version string, useful func(key string, p Piece) bool) error {
	x := Open(dir, version)
	defer x.Close()
	var failed error
	var small []*part
	kept := map[string]bool{}
	for _, p := range x.parts {
		kept[filepath.Base(p.path)] = true
		if p.pieces < largePieces {
			small = append(small, p)
		}
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ending && !kept[e.Name()] {
			failed = errors.Join(failed, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if len(small) <= mostSmall {
		return failed
	}
	return errors.Join(failed, merge(dir, version, small, useful))
}

// merge makes one part of several. Those that turn out to be damaged are removed: what was
// in them is indexed anew.
func merge(dir, version string, small []*part, useful func(key string, p Piece) bool) error {
	var conversations []Conversation
	var all []source
	n := 0
	for _, p := range small {
		s := &partSource{part: p}
		for _, c := range p.conversations {
			left := Conversation{Key: c.Key}
			for _, one := range c.Pieces {
				if !useful(c.Key, one) {
					s.numbers = append(s.numbers, -1)
					continue
				}
				s.numbers = append(s.numbers, n)
				left.Pieces = append(left.Pieces, one)
				n++
			}
			if len(left.Pieces) > 0 {
				conversations = append(conversations, left)
			}
		}
		all = append(all, s)
	}
	var err error
	if n > 0 {
		err = writePart(dir, version, conversations, all)
	}
	if err != nil && !errors.Is(err, errDamaged) {
		return err
	}
	for _, p := range small {
		if derr := p.check(); err == nil || derr != nil {
			err = errors.Join(err, os.Remove(p.path))
		}
	}
	if errors.Is(err, errDamaged) {
		return nil
	}
	return err
}

// check reads a whole part.
func (p *part) check() error {
	for n := range p.pages {
		if _, err := p.readPage(n); err != nil {
			return err
		}
	}
	return nil
}

// Compare sorts pieces as they stand in a conversation.
func Compare(a, b Indexed) int {
	return cmp.Or(cmp.Compare(a.Begins, b.Begins), cmp.Compare(a.Ends, b.Ends))
}

// Sort sorts pieces as they stand in a conversation.
func Sort(all []Indexed) { slices.SortFunc(all, Compare) }
