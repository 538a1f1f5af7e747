package trigrams

import (
	"math/bits"
	"slices"
)

// Gram is three bytes that follow each other or, from threes on, a group of the two bytes
// before a blank with the two behind it: in a piece that has all words of a phrase somewhere,
// they tell whether one stands beside the other.
type Gram uint32

const (
	threes = 1 << 24
	// jointBits is how many groups there are: few enough for a bit for each to be a small part
	// of a piece.
	jointBits  = 13
	jointReach = 2
	grams      = threes + 1<<jointBits
)

// Set collects what trigrams texts have. It takes 2 MiB, and is used again and again.
type Set struct {
	seen [grams / 64]uint64
	dirt []Gram
}

// Add takes in a text.
func (s *Set) Add(text string) {
	for i := 2; i < len(text); i++ {
		s.add(gramAt(text, i-2))
		if g, ok := jointAt(text, i); ok {
			s.add(g)
		}
	}
}

func (s *Set) add(g Gram) {
	if bit := uint64(1) << (g % 64); s.seen[g/64]&bit == 0 {
		s.seen[g/64] |= bit
		s.dirt = append(s.dirt, g)
	}
}

// Take gives what was collected, sorted, and begins anew.
func (s *Set) Take() []Gram {
	all := slices.Clone(s.dirt)
	slices.Sort(all)
	for _, g := range s.dirt {
		s.seen[g/64] = 0
	}
	s.dirt = s.dirt[:0]
	return all
}

// Of are the trigrams of a short text, each once.
func Of(text string) (all []Gram) {
	for i := 2; i < len(text); i++ {
		all = append(all, gramAt(text, i-2))
		if g, ok := jointAt(text, i); ok {
			all = append(all, g)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func gramAt(text string, i int) Gram {
	return Gram(text[i])<<16 | Gram(text[i+1])<<8 | Gram(text[i+2])
}

// jointAt is the joint at a blank.
func jointAt(text string, i int) (Gram, bool) {
	if text[i] != ' ' || i < jointReach || i+jointReach >= len(text) {
		return 0, false
	}
	four := uint32(text[i-2])<<24 | uint32(text[i-1])<<16 | uint32(text[i+1])<<8 | uint32(text[i+2])
	const mixer = 2654435761 // 2³² by the golden ratio
	return threes + Gram(four*mixer>>(32-jointBits)), true
}

// bitmap is a set of pieces, by their numbers in a part.
type bitmap []uint64

func newBitmap(n int) bitmap { return make(bitmap, (n+63)/64) }

func (b bitmap) set(n int) { b[n/64] |= 1 << (n % 64) }

func (b bitmap) has(n int) bool { return b[n/64]&(1<<(n%64)) != 0 }

// and leaves what is in both, and reports whether anything is left.
func (b bitmap) and(o bitmap) bool {
	n := 0
	for i := range b {
		b[i] &= o[i]
		n += bits.OnesCount64(b[i])
	}
	return n > 0
}
